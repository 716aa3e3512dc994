"""The comparison of architectures."""

from reproduce import made_up
from trimtab.reproduce.experiments.architectures import EXPERIMENT, with_all_networks
from trimtab.reproduce.setup import Setup, setup_for

ERRORS = {"source": 0.82, "bn1": 0.7, "roid": 0.55}


def test_imagenet_gets_the_31_networks_of_the_paper_unless_others_are_asked_for() -> None:
    wide = with_all_networks(setup_for("imagenet_r"))
    assert len(wide.networks) == 31
    assert all(name.endswith("@imagenet_r") for name in wide.networks)
    assert with_all_networks(setup_for("imagenet_c", ["resnet18"])).networks == ("resnet18",)
    assert with_all_networks(Setup()).networks == Setup().networks


def test_batch_norm_statistics_are_recomputed_only_where_there_are_some() -> None:
    specs = EXPERIMENT.runs(setup_for("imagenet_c", ["resnet18", "swin_t"], seeds=(1,)))
    ran = [(spec.model, spec.method) for spec in specs]
    assert ran == [
        ("resnet18", "source"),
        ("resnet18", "bn1"),
        ("resnet18", "roid"),
        ("swin_t", "source"),
        ("swin_t", "roid"),
    ]


def test_the_papers_table_on_architectures_stands_beside_the_same_runs() -> None:
    setup = setup_for("imagenet_sketch", ["resnet50"], seeds=(1,))
    found = made_up.findings(EXPERIMENT, setup, lambda spec: ERRORS[spec.method], samples=50_889)
    [(name, numbers)] = EXPERIMENT.analyse(found).tables[0].rows
    assert name == "resnet50"
    assert [number.paper for number in numbers] == [75.9, 73.6, 64.0]


def test_one_network_that_is_worse_breaks_the_claim_and_is_named() -> None:
    setup = Setup(seeds=(1,))
    worse = {("fashion_vit", "roid"): 0.9}
    found = made_up.findings(
        EXPERIMENT, setup, lambda spec: worse.get((spec.model, spec.method), ERRORS[spec.method])
    )
    against_source, against_statistics, statistics = EXPERIMENT.analyse(found).claims
    assert against_source.holds is False
    assert against_source.numbers == "on 2 of 3; least on fashion_vit, by -8.0 points"
    assert against_statistics.holds is True
    assert statistics.holds is True


def test_natural_shifts_promise_nothing_of_batch_norm_statistics() -> None:
    setup = setup_for("imagenet_r", ["resnet18"], seeds=(1,))
    found = made_up.findings(EXPERIMENT, setup, lambda spec: ERRORS[spec.method])
    assert not any("Under corruptions" in c.text for c in EXPERIMENT.analyse(found).claims)
