"""The head of the page: what is in here, in a few numbers."""

from trimtab.bench.result import RunResult
from trimtab.report.headline import headlines
from trimtab.report.markup import Markup, element, together
from trimtab.report.table import Table


def summary(tables: list[Table], results: list[RunResult]) -> Markup:
    """What came out, in a sentence, and tiles with counts."""
    done = [run for run in results if run.scores is not None]
    collapsed = sum(run.scores.collapsed for run in done if run.scores is not None)
    failed = len(results) - len(done)
    settings = {(table.protocol, setting) for table in tables for setting in table.settings}
    tiles = [
        _tile(len(results), "run", "runs"),
        _tile(len({row for table in tables for row in table.rows}), "method", "methods"),
        _tile(len(settings), "setting", "settings"),
        _tile(len({run.spec.seed for run in results}), "seed", "seeds"),
        _tile(
            sum(run.scores.samples for run in done if run.scores is not None),
            "prediction",
            "predictions",
        ),
        _tile(failed, "failed", "failed", bad=failed > 0),
        _tile(collapsed, "collapsed", "collapsed", bad=collapsed > 0),
    ]
    said = [element("p", sentence, class_="headline") for sentence in headlines(tables)]
    return together(*said, element("ul", *tiles, class_="tiles"))


def _tile(count: int, one: str, many: str, *, bad: bool = False) -> Markup:
    return element(
        "li",
        element("b", _short(count), title=f"{count:,}"),
        element("span", one if count == 1 else many),
        class_="bad" if bad else None,
    )


def _short(count: int) -> str:
    """Three digits and a unit from ten thousand on: 12.3 k, 4.5 M."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**4, "k")):
        if count >= size:
            divisor = 1000 if unit == "k" else size
            return f"{count / divisor:.3g} {unit}"
    return f"{count:,}"
