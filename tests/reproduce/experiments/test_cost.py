"""Passes and trained parameters."""

from reproduce import made_up
from trimtab.bench.spec import RunSpec
from trimtab.reproduce.experiments.cost import EXPERIMENT, FEW_IMAGES, MANY_PASSES
from trimtab.reproduce.setup import Setup, setup_for, small

PASSES = {
    "source": (1.0, 0.0, 0.0),
    "bn1": (1.0, 0.0, 0.0),
    "lame": (1.0, 0.0, 0.0),
    "tent": (1.0, 1.0, 0.002),
    "eta": (1.0, 0.2, 0.002),
    "sar": (1.5, 1.0, 0.001),
    "rotta": (3.0, 1.0, 0.002),
    "roid": (1.62, 1.24, 0.002),
}


def cost(spec: RunSpec) -> tuple[float, float, float]:
    return PASSES.get(spec.method, (3.0, 2.0, 1.0))


def test_the_papers_claims_hold_on_the_papers_numbers() -> None:
    found = made_up.findings(EXPERIMENT, Setup(), lambda spec: 0.5, cost)
    analysis = EXPERIMENT.analyse(found)
    assert [claim.holds for claim in analysis.claims] == [True] * 4
    assert "38 % left out" in analysis.claims[2].numbers


def test_claims_fall_with_other_numbers() -> None:
    changed = {"roid": (3.5, 4.0, 0.5), "eta": (1.0, 1.1, 0.002)}
    found = made_up.findings(
        EXPERIMENT, Setup(), lambda spec: 0.5, lambda spec: changed.get(spec.method, cost(spec))
    )
    assert [claim.holds for claim in EXPERIMENT.analyse(found).claims] == [False] * 4


def test_no_method_gets_source_images_whose_passes_would_be_counted() -> None:
    assert all(not spec.options for spec in EXPERIMENT.runs(Setup()))


def test_in_a_hurry_only_methods_of_many_passes_see_fewer_images() -> None:
    setup = small(Setup())
    for spec in EXPERIMENT.runs(setup):
        few = spec.method in MANY_PASSES
        assert spec.images_per_domain == (FEW_IMAGES if few else setup.images_per_domain)


def test_the_papers_counts_stand_beside_its_own_network_and_data() -> None:
    setup = setup_for("imagenet_r", seeds=(1,))
    found = made_up.findings(EXPERIMENT, setup, lambda spec: 0.5, cost)
    own, papers = EXPERIMENT.analyse(found).tables
    rows = dict(own.rows)
    assert [number.paper for number in rows["roid"]] == [1.62, 1.24, 0.21, None]
    assert rows["eta"][1].paper == 0.18
    assert "ResNet-50 on ImageNet-R" in papers.title
    elsewhere = made_up.findings(EXPERIMENT, Setup(), lambda spec: 0.5, cost)
    table = EXPERIMENT.analyse(elsewhere).tables[0]
    assert all(number.paper is None for _, numbers in table.rows for number in numbers)
