"""The networks on which constants are chosen."""

import pytest
import torch
from torch import nn

from trimtab import models
from trimtab.bench import suite
from trimtab.models.layer_norm_convnet import ChannelLayerNorm, DepthwiseBlock
from trimtab.models.plain_convnet import PlainConvNet
from trimtab.models.tiny import TINY
from trimtab.models.train.recipe import RECIPES
from trimtab.models.validation import CHOOSING_CONSTANTS, VALIDATION
from trimtab.reproduce import setup

NORMS = {
    "validation_plain_bn": nn.BatchNorm2d,
    "validation_convnet_ln": nn.LayerNorm,
    "validation_gn_weak": nn.GroupNorm,
}


def test_validation_networks_alone_are_for_choosing_constants() -> None:
    marked = {name for name, entry in models.MODELS.items() if entry.only_for is not None}
    assert marked == set(VALIDATION) == set(NORMS)
    assert {VALIDATION[name].only_for for name in marked} == {CHOOSING_CONSTANTS}


@pytest.mark.parametrize("name", suite.SUITES)
def test_no_ready_made_suite_measures_a_validation_network(name: str) -> None:
    assert not {run.model for run in suite.load(name).runs} & set(VALIDATION)


def test_no_experiment_measures_a_validation_network_by_default() -> None:
    assert not {name for names in setup.NETWORKS.values() for name in names} & set(VALIDATION)


@pytest.mark.parametrize("name", NORMS)
def test_has_norm_layers_of_one_kind(name: str) -> None:
    kinds = {
        type(module)
        for module in models.build(name, weights="random").modules()
        if isinstance(module, tuple(NORMS.values()))
    }
    assert kinds == {NORMS[name]}


@pytest.mark.parametrize("name", VALIDATION)
def test_is_of_another_architecture_than_the_networks_of_the_results(name: str) -> None:
    kinds = {type(entry.make(10)) for entry in TINY.values()}
    assert type(VALIDATION[name].make(10)) not in kinds


@pytest.mark.parametrize("name", VALIDATION)
def test_is_small_and_gives_one_logit_per_class(name: str) -> None:
    model = models.build(name, weights="random", num_classes=7)
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 7)
    assert sum(parameter.numel() for parameter in model.parameters()) < 100_000


def test_the_weak_network_learned_from_hard_labels() -> None:
    accuracy = VALIDATION["validation_gn_weak"].clean_accuracy
    assert RECIPES["validation_gn_weak"].label_smoothing == 0
    assert accuracy is not None
    assert 70 <= accuracy <= 80


def test_a_plain_net_is_a_chain_that_halves_the_image_between_stages() -> None:
    model = PlainConvNet(((4,), (6, 8)), num_classes=3)
    kinds = [type(module) for module in model.features]
    unit = [nn.Conv2d, nn.BatchNorm2d, nn.ReLU]
    assert kinds == [*unit, nn.MaxPool2d, *unit, *unit]
    assert model.features(torch.rand(1, 3, 32, 32)).shape == (1, 8, 16, 16)


def test_a_channel_layer_norm_standardizes_each_pixel() -> None:
    output = ChannelLayerNorm(16)(5 + 3 * torch.randn(2, 16, 4, 4))
    torch.testing.assert_close(output.mean(dim=1), torch.zeros(2, 4, 4), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        output.var(dim=1, unbiased=False), torch.ones(2, 4, 4), atol=1e-3, rtol=0
    )


def test_a_depthwise_block_adds_to_its_input() -> None:
    block = DepthwiseBlock(8, 2)
    last = block.perceptron[-1]
    assert isinstance(last, nn.Linear)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    inputs = torch.randn(2, 8, 6, 6)
    torch.testing.assert_close(block(inputs), inputs)
