"""The page of a reproduction: claims first, then each experiment's tables and figures."""

from collections.abc import Mapping

from trimtab.report.document import document
from trimtab.report.markup import Markup, breakable, element, together
from trimtab.report.sections.layout import scrolling, section
from trimtab.report.sections.panels import panel
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment, done_without_images
from trimtab.reproduce.setup import Setup

SIGNS = {True: "✓", False: "✗", None: "·"}


def page(title: str, setup: Setup, found: Mapping[str, tuple[Experiment, Analysis]]) -> str:
    """The whole page, of experiments by name."""
    claims = [claim for _, analysis in found.values() for claim in analysis.claims]
    sections = [_experiment(name, *pair) for name, pair in found.items()]
    overview = _overview(found) if len(found) > 1 else None
    links = {"claims": "Claims"} | {name: pair[0].title for name, pair in found.items()}
    simulated = done_without_images(experiment for experiment, _ in found.values())
    main = element("main", overview, *sections, _setup(setup, simulated))
    return document(
        title, "Trimtab reproduction", _tiles(claims), main, links | {"setup": "What was run"}
    )


def _tiles(claims: list[Claim]) -> Markup:
    counts = {
        "claims hold": sum(claim.holds is True for claim in claims),
        "do not hold here": sum(claim.holds is False for claim in claims),
        "too close to say": sum(claim.close for claim in claims),
        "not checked": sum(claim.holds is None and not claim.close for claim in claims),
    }
    tiles = [
        element("li", element("b", str(count)), element("span", words))
        for words, count in counts.items()
    ]
    return element("ul", *tiles, class_="tiles")


def _overview(found: Mapping[str, tuple[Experiment, Analysis]]) -> Markup:
    rows = [
        element(
            "tr",
            element(
                "td", SIGNS[claim.holds], class_="sign bad" if claim.holds is False else "sign"
            ),
            element("td", claim.text),
            element("td", claim.numbers or claim.verdict, class_="words"),
            element("td", element("a", experiment.title, href=f"#{name}")),
        )
        for name, (experiment, analysis) in found.items()
        for claim in analysis.claims
    ]
    head = element(
        "tr", *(element("th", word, scope="col") for word in ("", "Claim", "Here", "Experiment"))
    )
    table = element("table", element("thead", head), element("tbody", *rows), class_="plain claims")
    return section(
        "claims",
        "Claim by claim",
        "What the paper says, and whether it holds on the images and networks used here. "
        "Nothing was tuned to make a claim hold.",
        scrolling(table, "Claims"),
    )


def _experiment(name: str, experiment: Experiment, analysis: Analysis) -> Markup:
    claims = [
        element(
            "li",
            element("b", SIGNS[claim.holds]),
            element("span", f"{claim.text} ", element("small", claim.numbers or claim.verdict)),
            class_="bad" if claim.holds is False else None,
        )
        for claim in analysis.claims
    ]
    return section(
        name,
        experiment.title,
        f"{experiment.question} ({experiment.place}.)",
        element("ul", *claims, class_="verdicts") if claims else None,
        *(_table(table) for table in analysis.tables),
        *(
            _figures([f for f in analysis.figures if f.wide == wide], wide)
            for wide in (False, True)
        ),
    )


def _table(table: NumberTable) -> Markup:
    head = element(
        "tr",
        element("th", "", scope="col", class_="method"),
        *(element("th", breakable(column), scope="col") for column in table.columns),
    )
    rows = [
        element(
            "tr",
            element("th", breakable(name), scope="row", class_="method"),
            *(element("td", _number(number)) for number in numbers),
        )
        for name, numbers in table.rows
    ]
    content = element(
        "table",
        element("caption", table.title),
        element("thead", head),
        element("tbody", *rows),
        class_="results roomy",
    )
    return scrolling(content, table.title)


def _number(number: Number) -> Markup:
    if number.value is None:
        return element("span", "–", class_="nothing")
    spread = None if number.spread is None else f"±{number.spread:.{number.digits}f}"
    paper = None if number.paper is None else f"paper {number.paper:g}"
    small = [element("small", words) for words in (spread, paper) if words]
    return element("span", f"{number.value:.{number.digits}f}", *small, class_="number")


def _figures(figures: list[Figure], wide: bool) -> Markup | None:
    if not figures:
        return None
    return element("div", *map(_figure, figures), class_="panels wide" if wide else "panels few")


def _figure(figure: Figure) -> Markup:
    return panel(
        together(figure.title, element("small", figure.caption, class_="caption")), figure.content
    )


def _setup(setup: Setup, simulated: str) -> Markup:
    images = setup.images_per_domain
    images_and_networks = {
        "Data": setup.data,
        "Networks": ", ".join(setup.networks),
        "Images per domain": "as in the paper" if images is None else f"{images:,}",
    }
    facts = {
        **({"Data": simulated} if simulated else images_and_networks),
        "Batch size": str(setup.batch_size),
        "Seeds": ", ".join(str(seed) for seed in setup.seeds),
    }
    rows = [
        element("tr", element("th", name, scope="row"), element("td", words))
        for name, words in facts.items()
    ]
    return section(
        "setup",
        "What was run",
        "Where an experiment differs from this, its title says so.",
        element("table", element("tbody", *rows), class_="plain"),
    )
