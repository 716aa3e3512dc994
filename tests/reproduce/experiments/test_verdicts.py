"""What experiments say of results that are made up: right where it is so, wrong where not."""

from collections.abc import Callable
from typing import Any

import pytest

from report import stores
from trimtab import reproduce
from trimtab.bench.spec import RunSpec
from trimtab.reproduce.analysis import Analysis
from trimtab.reproduce.experiments import diversity, forgetting, generalization
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup, setup_for, small
from trimtab.streams.corruptions import BENCHMARK

SETUP = small(setup_for("fashion_mnist"))
Values = dict[str, Any]


def analysed(name: str, values: Callable[[RunSpec], Values], setup: Setup = SETUP) -> Analysis:
    """What an experiment makes of runs whose scores are given, the error among them."""
    experiment = reproduce.load(name)
    results = []
    for spec in experiment.runs(setup):
        scores = values(spec)
        results.append(stores.done(spec, scores.pop("error", 0.5), **scores))
    return experiment.analyse(Findings(setup, tuple(results)))


def verdicts(analysis: Analysis, words: str) -> list[bool | None]:
    found = [claim.holds for claim in analysis.claims if words in claim.text]
    assert found, words
    return found


def curve(errors: list[float], distances: list[float]) -> list[tuple[int, float, float]]:
    pairs = zip(errors, distances, strict=True)
    return [(10 * (place + 1), error, distance) for place, (error, distance) in enumerate(pairs)]


@pytest.mark.parametrize("worse", [False, True])
def test_stream_length_sees_whether_long_streams_hurt(worse: bool) -> None:
    def values(spec: RunSpec) -> Values:
        length = (spec.images_per_domain or 0) / 1000
        rises = (spec.method == "roid") == worse
        return {"error": 0.3 + 0.1 * length if rises else 0.3 - 0.1 * length}

    analysis = analysed("stream-length", values)
    assert [claim.holds for claim in analysis.claims] == [not worse] * 3
    [figure] = analysis.figures
    assert figure.content.count("<polyline") == 2 * 4  # lines, and those of the legend


@pytest.mark.parametrize("weighted_grows", [False, True])
def test_bias_compares_the_ends_of_streams(weighted_grows: bool) -> None:
    speed = {"single": 0.1, "recurring": 0.2, "mixed": 0.4}

    def values(spec: RunSpec) -> Values:
        grows = spec.method == "tent" or weighted_grows
        rate = speed[spec.scenario.partition("(")[0]] if grows else 0.0
        distances = [0.1 + rate * place / 60 for place in range(60)]
        return {"curve": curve([0.5] * 60, distances)}

    analysis = analysed("bias", values)
    assert verdicts(analysis, "TENT's bias grows") == [True] * 4
    assert verdicts(analysis, "keeps TENT's bias from growing") == [not weighted_grows] * 3
    assert len(analysis.figures) == 2
    rows = dict(analysis.tables[0].rows)
    first, last = (number.value for number in rows["TENT, mixed"])
    assert first == pytest.approx(10 + 40 * 7 / 60)
    assert last == pytest.approx(10 + 40 * 52 / 60)


@pytest.mark.parametrize("forgets", ["roid", "tent"])
def test_forgetting_tells_clean_visits_from_domains(forgets: str) -> None:
    def values(spec: RunSpec) -> Values:
        clean = 0.3 if spec.method == forgets else 0.1
        errors = dict.fromkeys(BENCHMARK, 0.5) | {"clean": clean}
        visits = [error for _ in BENCHMARK for error in (0.5, 0.5, clean, clean)]
        return {"errors": errors, "curve": curve(visits, [0.0] * 60)}

    analysis = analysed("forgetting", values)
    kept = forgets != "roid"
    assert verdicts(analysis, "nearly keeps") == [kept]
    assert verdicts(analysis, "no more than TENT") == [kept]
    rows = {name: [number.value for number in row] for name, row in analysis.tables[0].rows}
    assert rows[forgets] == pytest.approx([30, 50, 30, 30])
    assert rows["source"] == pytest.approx([10, 50, 10, 10])


def test_visits_are_seen_one_by_one() -> None:
    [spec] = SETUP.run("roid", SETUP.main, "alternating")
    errors = dict.fromkeys((*BENCHMARK, "clean"), 0.5)
    points = [(10 * (place + 1), place / 100, 0.0) for place in range(60)]
    run = stores.done(spec, 0.5, errors=errors, curve=points)
    found = Findings(SETUP, (run,))
    assert forgetting.visits(found, clean=False)[:2] == pytest.approx([0.5, 4.5])
    assert forgetting.visits(found, clean=True)[:2] == pytest.approx([2.5, 6.5])


@pytest.mark.parametrize("stuck", ["roid", "tent"])
def test_diversity_sees_who_predicts_few_classes(stuck: str) -> None:
    def values(spec: RunSpec) -> Values:
        narrow = spec.method == stuck
        along = [[10, 0] if narrow else [5, 5] for _ in range(60)]
        # harder domains are more biased, LAME's most of all
        scale = {"lame": 2.0, "bn1": 1.1, stuck: 4.0}.get(spec.method, 1.0)
        distances = [scale * (place // 4) / 100 for place in range(60)]
        return {
            "errors": dict.fromkeys(BENCHMARK, 0.5),
            "curve": curve([place / 60 for place in range(60)], distances),
            "predicted_along": along,
            "predicted": [600, 0] if narrow else [300, 300],
        }

    analysis = analysed("diversity", values)
    assert verdicts(analysis, "Where BN-1 errs more") == [True]
    assert verdicts(analysis, "ROID keeps") == [stuck != "roid"]
    assert verdicts(analysis, "TENT's predictions are less diverse") == [stuck == "tent"]
    rows = {name: row[2].value for name, row in analysis.tables[0].rows}
    assert rows[stuck] == pytest.approx(1.0)
    assert rows["bn1"] == pytest.approx(2.0)


def test_older_results_have_claims_but_no_pictures_of_diversity() -> None:
    def values(spec: RunSpec) -> Values:
        distances = [place / 100 for place in range(60)]
        errors = dict.fromkeys(BENCHMARK, 0.5)
        return {"errors": errors, "curve": curve(distances, distances)}

    analysis = analysed("diversity", values)
    assert analysis.figures == []
    assert all(claim.holds is not None for claim in analysis.claims)


def test_effective_classes_count_equal_shares() -> None:
    assert diversity.effective_classes([7, 0, 7, 7]) == pytest.approx(3.0)
    assert diversity.effective_classes([5]) == pytest.approx(1.0)


@pytest.mark.parametrize("ensembling_helps", [False, True])
def test_generalization_averages_by_where_errors_are_seen(ensembling_helps: bool) -> None:
    better = "ensembled" if ensembling_helps else "plain"

    def record(domain: str) -> Values:
        errors = {}
        for loss in generalization.TITLES:
            for way in generalization.WAYS:
                gain = 3.0 if way == better else 0.0
                elsewhere = dict.fromkeys(BENCHMARK, 30.0 - gain) | {"clean": 20.0 - gain}
                errors[f"{loss}/{way}/0.01"] = elsewhere | {domain: 10.0}
                errors[f"{loss}/{way}/0.001"] = dict.fromkeys(elsewhere, 15.0)
        return {"errors": errors}

    studies = generalization.studies(SETUP)
    found = [(study, record(study.settings["domain"])) for study in studies]
    analysis = generalization.analyse(Findings(SETUP, (), tuple(found)))
    assert verdicts(analysis, "Adapting more strongly") == [True] * 9
    assert verdicts(analysis, "weight ensembling lowers") == [ensembling_helps] * 6
    assert len(analysis.figures) == 6
    rows = {name: [n.value for n in row] for name, row in analysis.tables[0].rows}
    assert rows["entropy minimisation"] == pytest.approx(
        [15, 10, 15, 30, 15, 20] if ensembling_helps else [15, 10, 15, 27, 15, 17]
    )


def test_natural_images_have_no_milder_domains_to_adapt_to() -> None:
    assert generalization.studies(setup_for("imagenet_r")) == []


def test_the_full_study_is_of_all_domains_at_the_papers_learning_rates() -> None:
    studies = generalization.studies(setup_for("imagenet_c"))
    assert [study.settings["domain"] for study in studies] == list(BENCHMARK)
    assert studies[0].settings["rates"] == (1e-4, 1e-3)
    assert studies[0].settings["images"] is None
