"""Setups: which networks and sizes a dataset gets."""

import pytest

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
