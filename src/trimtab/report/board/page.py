"""The leaderboard as a page: places, errors by setting, and what was refused and why."""

from collections.abc import Mapping, Sequence

from trimtab.bench.names import counted
from trimtab.bench.submission import Submission
from trimtab.report.board.rows import to_csv, to_json
from trimtab.report.board.standings import Board, Entry
from trimtab.report.board.streams import place_name
from trimtab.report.document import document
from trimtab.report.markup import Markup, breakable, element
from trimtab.report.metrics import COST, ECE, ERROR, Metric
from trimtab.report.sections.downloads import download_links
from trimtab.report.sections.layout import data_table, row_filter, scrolling, section
from trimtab.report.settings import Setting

LINKS = {
    "places": "Places",
    "errors": "Errors",
    "streams": "Streams",
    "files": "Files",
    "refused": "Refused",
}


def board_page(board: Board, submissions: Mapping[str, Submission], title: str) -> str:
    """The whole page."""
    main = element(
        "main",
        _places(board),
        download_links({"csv": to_csv(board), "json": to_json(board)}),
        _errors(board) if board.entries else None,
        _streams(board),
        _files(submissions),
        _refused(board),
    )
    head = element("p", _headline(board), class_="headline")
    return document(title, "Trimtab leaderboard", head, main, LINKS)


def _headline(board: Board) -> str:
    if not board.entries:
        return "No submission compares: see below why."
    safest = [entry for entry in board.entries if board.rank_by_worst(entry) == 1]
    lowest = [entry for entry in board.entries if board.rank_by_mean(entry) == 1]
    change = _points(safest[0].worst_change)
    return (
        f"{_named(safest)} {'is' if len(safest) == 1 else 'are'} safest: {change} points against "
        f"no adaptation at worst. The lowest mean error is {lowest[0].mean_error:.1f} %, of "
        f"{_named(lowest)}. Entries: {len(board.entries)}; refused: {len(board.refusals)}."
    )


def _named(entries: Sequence[Entry]) -> str:
    return " and ".join(_who(entry) for entry in entries)


def _who(entry: Entry) -> str:
    return f"{entry.label} ({entry.by})" if entry.by else entry.label


def _places(board: Board) -> Markup:
    body = [_place(board, entry) for entry in board.entries]
    heads = (
        "By worst",
        "By mean",
        "Method",
        "By",
        "Worst",
        "Mean error",
        "Harmed",
        "ECE",
        "Cost",
        "Worst in",
    )
    content = data_table(heads, body, words=("Method", "By", "Worst in"))
    return section(
        "places",
        "Places",
        "Two orders. By the worst setting: how many points the error rises, or falls least, "
        "against the source model on the same samples. By the mean: the error in %, each setting "
        "counting once. Equal to one decimal is an equal place. Harmed are settings in which a "
        "method is worse than no adaptation; ECE in %, cost as a multiple of a plain forward.",
        row_filter("places") if body else None,
        scrolling(content, "Places") if body else element("p", "Nobody yet.", class_="none"),
    )


def _place(board: Board, entry: Entry) -> list[str | Markup]:
    return [
        str(board.rank_by_worst(entry)),
        str(board.rank_by_mean(entry)),
        breakable(entry.label),
        entry.by or entry.file,
        _points(entry.worst_change),
        f"{entry.mean_error:.1f}",
        f"{entry.harmed} of {len(entry.cells)}",
        _shown(entry, ECE),
        _shown(entry, COST),
        place_name(entry.worst),
    ]


def _errors(board: Board) -> Markup:
    heads = ("Method", "By", *map(place_name, board.places))
    body: list[list[str | Markup]] = [
        [breakable(entry.label), entry.by or entry.file, *(_error(entry, p) for p in board.places)]
        for entry in board.entries
    ]
    source = [f"{board.source[place]:.1f}" for place in board.places]
    body.append(["Source", "no adaptation", *source])
    return section(
        "errors",
        "Error by setting",
        "In %, mean over seeds ± their standard deviation.",
        row_filter("errors"),
        scrolling(data_table(heads, body, words=("Method", "By")), "Error by setting"),
    )


def _error(entry: Entry, place: Setting) -> Markup:
    cell = entry.cells[place]
    mean, spread = cell.mean(ERROR), cell.spread(ERROR)
    small = None if spread is None else element("small", f"±{spread:.1f}")
    harmed = round(entry.changes[place], 1) > 0
    sign = element("sup", "▲", title="worse than no adaptation") if harmed else None
    kind = "number bad" if harmed else "number"
    return element("span", f"{mean or 0.0:.1f}", small, sign, class_=kind)


def _streams(board: Board) -> Markup:
    protocols = dict.fromkeys(str(stream.protocol) for stream in board.streams)
    seeds = sorted({stream.seed for stream in board.streams})
    return section(
        "streams",
        "Streams",
        f"{counted(len(board.streams), 'stream')}: {' and '.join(protocols)}; seeds "
        f"{', '.join(map(str, seeds))}. Every entry has a run on each of them, with the same "
        "weights, samples and labels as the others, and the source model's error agrees within "
        f"{board.tolerance:g} points: the gate that shows that network and images are the same.",
        element("ul", *(element("li", place_name(place)) for place in board.places)),
    )


def _files(submissions: Mapping[str, Submission]) -> Markup:
    body: list[list[str | Markup]] = [
        [
            name,
            submission.by or "–",
            submission.title,
            submission.version,
            element("code", submission.sha256[:16]),
            f"{len(submission.results):,}",
        ]
        for name, submission in submissions.items()
    ]
    heads = ("File", "By", "What", "Version", "Hash", "Runs")
    return section(
        "files",
        "Files",
        "The hash is of all that a file says. It tells a damaged or edited file, not a made-up "
        "one: the commands of all runs are in the files, to be done again.",
        scrolling(data_table(heads, body, words=heads[:-1]), "Files"),
    )


def _refused(board: Board) -> Markup:
    body: list[list[str | Markup]] = [[r.file, r.what, r.why] for r in board.refusals]
    table = data_table(("File", "What", "Why"), body, words=("File", "What", "Why"))
    return section(
        "refused",
        "Refused",
        "What does not compare, and why." if body else "Nothing was refused.",
        scrolling(table, "Refused") if body else None,
    )


def _points(change: float) -> str:
    return f"{change:+.1f}".replace("-", "−")


def _shown(entry: Entry, metric: Metric) -> str:
    mean = entry.mean(metric)
    return "–" if mean is None else metric.show(mean)
