"""The appendix's table on efficiency: passes through the network, and what is trained."""

from collections.abc import Mapping
from dataclasses import replace

from trimtab.bench.spec import RunSpec
from trimtab.report.metrics import Metric
from trimtab.report.plots.dots import dots
from trimtab.report.published import names
from trimtab.report.published_efficiency import published_cost
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.cost_metrics import BACKWARDS, FORWARDS, TIME, TRAINED
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup

SCENARIO = "continual"
METHODS = (
    "source", "bn1", "lame", "tent", "eta", "sar", "cotta", "rotta", "adacontrast", "rmt", "roid",
)  # fmt: skip
"""``eta`` is EATA without the passes over source images, which the paper leaves out too."""

MANY_PASSES = ("cotta", "rotta", "adacontrast", "rmt")
FEW_IMAGES = 20
"""Images per domain for methods of many passes in a hurry: counts per sample need no more."""


COLUMNS = {
    "forwards a sample": FORWARDS,
    "backwards a sample": BACKWARDS,
    "trained parameters in %": TRAINED,
    "time, in plain forwards": TIME,
}


def runs(setup: Setup) -> list[RunSpec]:
    """Every method on one network, without source images."""
    specs = []
    for method in METHODS:
        few = setup.quick and method in MANY_PASSES
        chosen = replace(setup, images_per_domain=_few(setup.images_per_domain)) if few else setup
        found = chosen.run(method, setup.main, SCENARIO)
        specs += [replace(spec, options=_without_source(spec.options)) for spec in found]
    return specs


def _few(images: int | None) -> int:
    return FEW_IMAGES if images is None else min(images, FEW_IMAGES)


def _without_source(options: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in options.items() if name != "source_data"}


def analyse(findings: Findings) -> Analysis:
    """Passes and trained parameters by method, the paper's in a table of their own."""
    setup = findings.setup
    rows = [(method, _row(findings.where(method=method))) for method in METHODS]
    title = f"Cost on {setup.data}, {SCENARIO}, {setup.main}"
    table = NumberTable(title, tuple(COLUMNS), tuple(rows))
    return Analysis([table, _papers()], _figures(findings), _claims(findings))


def _row(here: Findings) -> tuple[Number, ...]:
    paper = _papers_row(here.results[0].spec) if here.results else {}
    return tuple(
        Number(here.mean(metric), here.spread(metric), paper.get(metric.name), metric.digits)
        for metric in COLUMNS.values()
    )


def _papers_row(spec: RunSpec) -> dict[str, float]:
    """Published numbers for the paper's own network and data."""
    cost = published_cost(_paper_name(spec.method))
    if cost is None or names(spec) != ("imagenet_r", "resnet50"):
        return {}
    return {
        "forwards": round(cost.forwards, 2),
        "backwards": round(cost.backwards, 2),
        "trained_share": cost.trained,
    }


def _paper_name(method: str) -> str:
    return "eata" if method == "eta" else method


def _papers() -> NumberTable:
    rows = []
    for method in METHODS:
        cost = published_cost(_paper_name(method))
        if cost is not None:
            values = (cost.forwards, cost.backwards, cost.trained)
            rows.append((_paper_name(method), tuple(Number(v, digits=2) for v in values)))
    columns = tuple(COLUMNS)[:3]
    return NumberTable("In the paper: ResNet-50 on ImageNet-R", columns, tuple(rows))


def _figures(findings: Findings) -> list[Figure]:
    drawn = {}
    for method in METHODS:
        here = findings.where(method=method)
        passes = {"forwards": here.mean(FORWARDS), "backwards": here.mean(BACKWARDS)}
        if any(passes.values()):
            drawn[method] = {kind: value for kind, value in passes.items() if value}
    if not drawn:
        return []
    caption = "Passes through the network for each sample; none is left out."
    content = dots(drawn, "passes a sample", doubling=True)
    return [Figure("Forwards and backwards", caption, content)]


def _claims(findings: Findings) -> list[Claim]:
    def mean(method: str, metric: Metric) -> float | None:
        return findings.where(method=method).mean(metric)

    roid = mean("roid", FORWARDS)
    left_out = None if roid is None else 100 * (2 - roid)
    return [
        _at_most(
            "EATA back-propagates fewer samples than TENT.",
            {"EATA": mean("eta", BACKWARDS)},
            {"TENT": mean("tent", BACKWARDS)},
        ),
        _at_most(
            "ROID needs fewer forwards than CoTTA, RoTTA, AdaContrast and RMT.",
            {"ROID": roid},
            {method: mean(method, FORWARDS) for method in MANY_PASSES},
        ),
        Claim(
            "ROID leaves out at least a quarter of the samples when it learns.",
            None if left_out is None else left_out >= 25,
            "" if left_out is None else f"{left_out:.0f} % left out; 38 % in the paper",
        ),
        _at_most(
            "ROID trains at most a twentieth of what CoTTA, AdaContrast and RMT train.",
            {"ROID": mean("roid", TRAINED)},
            {name: mean(name, TRAINED) for name in ("cotta", "adacontrast", "rmt")},
            factor=20,
            unit=" %",
        ),
    ]


def _at_most(
    text: str,
    small: Mapping[str, float | None],
    large: Mapping[str, float | None],
    factor: float = 1.0,
    unit: str = "",
) -> Claim:
    """The claim that ``factor`` times the one number is below each of the others."""
    numbers = {name: value for name, value in {**small, **large}.items() if value is not None}
    if len(numbers) < len(small) + len(large):
        return Claim(text, None)
    first, *rest = numbers.values()
    said = ", ".join(f"{name} {value:.2f}{unit}" for name, value in numbers.items())
    return Claim(text, all(factor * first < other for other in rest), said)


EXPERIMENT = Experiment(
    title="Cost",
    paper="The appendix's table on computational efficiency",
    question="How many passes does each method need, and how much of the network does it train?",
    runs=runs,
    analyse=analyse,
)
