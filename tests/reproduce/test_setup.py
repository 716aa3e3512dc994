"""Setups: which networks and sizes a dataset gets."""

import pytest

from trimtab.report.metrics import DOMAIN_ERROR, ERROR
from trimtab.reproduce.setup import METHODS, Setup, setup_for, small


def test_networks_are_told_apart_by_their_norm_layers() -> None:
    setup = Setup()
    assert setup.coupled == ("fashion_resnet20_bn",)
    assert setup.uncoupled == ("fashion_resnet20_gn", "fashion_vit")
    assert setup.main == "fashion_resnet20_bn"


def test_the_papers_datasets_get_the_papers_networks_and_batch_size() -> None:
    assert setup_for("imagenet_c").networks == ("resnet50", "swin_b", "vit_b_16")
    assert setup_for("imagenet_c").batch_size == 64
    assert setup_for("imagenet_c").images_per_domain is None
    assert setup_for("cifar10_c").batch_size == 200


def test_data_without_known_networks_asks_for_one() -> None:
    with pytest.raises(ValueError, match="give some with --model"):
        setup_for("folder(root='x')")


def test_an_unknown_network_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="did you mean 'resnet50'"):
        setup_for("imagenet_c", ["resnet5"])


def test_methods_that_want_source_images_get_them_where_there_are_some() -> None:
    [spec] = Setup(seeds=(1,)).run("eata", "fashion_vit", "mixed")
    assert (spec.method, spec.options) == ("eata", {"source_data": "source"})
    [spec] = Setup(data="imagenet_c", seeds=(1,)).run("eata", "resnet50", "mixed")
    assert (spec.method, spec.options) == ("eta", {})


def test_small_keeps_the_data_and_networks() -> None:
    setup = small(setup_for("cifar10"))
    assert setup.data == "cifar10"
    assert setup.seeds == (1,)
    assert set(setup.methods) < set(METHODS)


def test_datasets_with_some_of_imagenets_classes_get_networks_with_those() -> None:
    assert setup_for("imagenet_r").networks[0] == "resnet50@imagenet_r"
    assert setup_for("imagenet_r").coupled == ("resnet50@imagenet_r",)
    chosen = setup_for("imagenet_d109", ["resnet18", "vit_b_16@imagenet_d109"]).networks
    assert chosen == ("resnet18@imagenet_d109", "vit_b_16@imagenet_d109")
    assert setup_for("imagenet_r", ["fashion_vit"]).networks == ("fashion_vit",)


def test_the_papers_part_of_imagenet_c_is_taken_unless_classes_are_correlated() -> None:
    setup = setup_for("imagenet_c")
    sizes = {
        scenario: setup.run("roid", "swin_b", scenario)[0].images_per_domain
        for scenario in ("continual", "mixed", "correlated", "mixed_correlated(delta=0.01)")
    }
    assert list(sizes.values()) == [5000, 5000, None, None]
    listed = setup_for("imagenet_c(list_file='list.txt')")
    assert listed.run("roid", "swin_b", "continual")[0].images_per_domain is None
    chosen = setup_for("imagenet_c", images_per_domain=100)
    assert chosen.run("roid", "swin_b", "mixed")[0].images_per_domain == 100


def test_the_papers_own_hyperparameters_are_set_where_trimtabs_differ() -> None:
    spec = setup_for("cifar100_c").run("cotta", "resnext29_4x32d", "continual")[0]
    assert spec.options == {"min_confidence": 0.72}


def test_domains_of_unequal_size_count_once_each() -> None:
    assert setup_for("imagenet_d109").metric is DOMAIN_ERROR
    assert setup_for("imagenet_c").metric is ERROR


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("images_per_domain", 0),
        ("batch_size", 0),
        ("batch_size", -1),
        ("seeds", (1, -1)),
        ("seeds", ()),
    ],
)
def test_a_size_that_is_none_is_refused_and_not_taken_for_the_usual_one(
    name: str, value: object
) -> None:
    with pytest.raises(ValueError, match=f"{name} must be"):
        Setup(**{name: value})  # type: ignore[arg-type]
