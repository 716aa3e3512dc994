"""Benchmark of harm: methods on hostile and hard streams, with and without the guard."""

from collections.abc import Callable, Iterable

from trimtab import models
from trimtab.bench.spec import RunSpec
from trimtab.report.plots.lines import lines
from trimtab.reproduce.analysis import Analysis, Claim, Figure, Number, NumberTable
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.harm_scores import HarmScores, Way
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Study
from trimtab.streams.hostile import HARD, STREAMS

QUICK_METHODS, QUICK_STREAMS = ("tent", "trimtab"), ("benign", "one class", "attacked", "flooded")
FIRST_METHODS = ("tent", "lame", "roid", "trimtab")
FURTHER_METHODS = ("eata", "sar", "cotta", "rotta", "spa", "bn1", "rmt", "adacontrast", "deyo")
HELPFUL = ("benign", "mixed")
"""Streams on which adapting may help, so that alarms there may be false."""
WHOLE_LIMIT, STRETCH_LIMIT, GAIN_LIMIT, COST_LIMIT = 1.0, 5.0, 0.3, 1.1
"""Most points above the source over a stream and over 1,000 samples, most points of a gain that a
guard may cost, and most passes with a guard as a multiple of those without."""
WAYS: tuple[Way, ...] = ("plain", "guarded")
Scored = list[tuple[Study, HarmScores]]


def runs(_setup: Setup) -> list[RunSpec]:
    """None: hostile streams are made by studies."""
    return []


def studies(setup: Setup) -> list[Study]:
    """Every method on every stream and network, once a seed; the telling methods first."""
    methods = QUICK_METHODS if setup.quick else (*FIRST_METHODS, *FURTHER_METHODS)
    return [
        Study("harm", _settings(setup, model, method, stream, seed))
        for seed in setup.seeds
        for method in methods
        for model in setup.networks
        for stream in (QUICK_STREAMS if setup.quick else STREAMS)
    ]


def _settings(setup: Setup, model: str, method: str, stream: str, seed: int) -> dict[str, object]:
    images = setup.images_per_domain or HARD
    size = {"samples": 16 * images} if 16 * images < HARD else {}
    return {
        **size,
        "data": setup.data,
        "model": model,
        "weights": models.fingerprint(model),
        "method": method,
        "stream": stream,
        "batch_size": setup.batch_size,
        "seed": seed,
        "corruptions": "benchmark",
    }


def analyse(findings: Findings) -> Analysis:
    """By method and by stream: the worst of everything, without and with the guard."""
    scored = [(study, HarmScores(record)) for study, record in findings.records]
    data = findings.setup.data
    tables = [
        _table(scored, "method", f"Worst over networks and streams of {data}, by method"),
        _table(scored, "stream", f"Worst over networks and methods on {data}, by stream"),
        _table(scored, "model", f"Worst over streams and methods on {data}, by network"),
    ]
    return Analysis(tables, _figures(scored), _claims(scored))


def _table(scored: Scored, by: str, title: str) -> NumberTable:
    columns = [
        f"{words}, {'with' if way == 'guarded' else 'without'} guard"
        for words in ("whole stream", "1,000 samples", "clean afterwards")
        for way in WAYS
    ]
    names = dict.fromkeys(study.settings[by] for study, _ in scored)
    rows = []
    for name in names:
        chosen = [(study, s) for study, s in scored if study.settings[by] == name]
        values = [
            _largest(chosen, read, way)
            for read in (HarmScores.whole, HarmScores.stretch, HarmScores.afterwards)
            for way in WAYS
        ]
        alarms = [s.alarms for study, s in chosen if study.settings["stream"] in HELPFUL]
        recovery = [s.recovery("guarded") for _, s in chosen]
        numbers = [*values, max(recovery, default=None), float(sum(alarms)) if alarms else None]
        rows.append((name, tuple(Number(value) for value in numbers)))
    extra = ("samples until recovery, with guard", "alarms where adapting helps")
    return NumberTable(f"{title}: points above the source model", (*columns, *extra), tuple(rows))


def _largest(
    scored: Scored, read: Callable[[HarmScores, Way], float | None], way: Way
) -> float | None:
    return max(_known(read(scores, way) for _, scores in scored), default=None)


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _figures(scored: Scored) -> list[Figure]:
    """Along the stream, for the streams that harm most without a guard."""
    worst = sorted(scored, key=lambda pair: -(pair[1].whole("plain") or 0))[:9]
    figures = []
    for study, scores in worst:
        what = study.settings
        title = f"{what['method']} on {what['model']}: {what['stream']}"
        content = lines(scores.curves(), "samples", "error in %", limits=(0, 100))
        figures.append(Figure(title, f"Seed {what['seed']}. {scores.story}", content))
    return figures


def _claims(scored: Scored) -> list[Claim]:
    gains = [
        (study, change)
        for study, scores in scored
        if study.settings["stream"] in HELPFUL and (change := scores.gain_lost) is not None
    ]
    costs = [(study, scores.cost) for study, scores in scored if not scores.fell_back]
    return [
        _below(
            f"With the guard no stream is more than {WHOLE_LIMIT:g} point above the source.",
            [(study, s.whole("guarded")) for study, s in scored],
            WHOLE_LIMIT,
        ),
        _below(
            f"With the guard no 1,000 samples are more than {STRETCH_LIMIT:g} points above it.",
            [(study, s.stretch("guarded")) for study, s in scored],
            STRETCH_LIMIT,
        ),
        _below(
            f"Where adapting helps, the guard costs at most {GAIN_LIMIT:g} points.",
            gains,
            GAIN_LIMIT,
        ),
        _below(
            "Where the guard does not fall back, it costs at most a tenth more passes.",
            costs,
            COST_LIMIT,
        ),
    ]


def _below(text: str, found: Iterable[tuple[Study, float | None]], limit: float) -> Claim:
    known = [(study, value) for study, value in found if value is not None]
    if not known:
        return Claim(text, None)
    above = [(study, value) for study, value in known if value > limit]
    study, worst = max(known, key=lambda pair: pair[1])
    where = ", ".join(str(study.settings[key]) for key in ("method", "model", "stream"))
    count = f"{len(above)} of {len(known)} above it; the worst is {worst:.2f} ({where})"
    return Claim(text, not above, count)


EXPERIMENT = Experiment(
    title="Harm",
    paper="",
    question="How much worse than the source model can adapting get, with and without the guard?",
    runs=runs,
    analyse=analyse,
    studies=studies,
    needs="clean images to corrupt",
)
