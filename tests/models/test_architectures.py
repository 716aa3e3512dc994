"""The architectures: sizes as published, and the parts that are easy to get wrong."""

import pytest
import torch
from torch import nn

from trimtab import models
from trimtab.models.preactivation_resnet import PoolShortcut
from trimtab.models.resnet import PadShortcut
from trimtab.models.wide_resnet import WideBlock

PUBLISHED_PARAMETERS = {
    "cifar_resnet20": 269_722,
    "cifar_resnet32": 464_154,
    "cifar_resnet44": 658_586,
    "cifar_resnet56": 853_018,
    "cifar_resnet110": 1_727_962,
    "wrn28_10": 36_479_194,
    "wrn40_2": 2_243_546,
    "resnext29_4x32d": 6_900_132,
}


@pytest.mark.parametrize("name", PUBLISHED_PARAMETERS)
def test_has_the_published_number_of_parameters(name: str) -> None:
    with torch.device("meta"):
        model = models.MODELS[name].make(models.MODELS[name].num_classes)
    assert sum(p.numel() for p in model.parameters()) == PUBLISHED_PARAMETERS[name]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("cifar_resnet20", "conv1.weight bn1.bias layer3.2.bn2.weight linear.bias"),
        ("cifar_resnet20_projection", "layer2.0.shortcut.0.weight layer2.0.shortcut.1.bias"),
        (
            "wrn40_2",
            "block1.layer.0.convShortcut.weight block3.layer.5.bn1.weight bn1.bias fc.bias",
        ),
        (
            "resnext29_4x32d",
            "conv_1_3x3.weight bn_1.bias stage_1.0.conv_reduce.weight stage_1.0.downsample.1.bias "
            "stage_3.2.conv_conv.weight stage_3.2.bn.weight stage_3.2.bn_expand.bias "
            "classifier.weight",
        ),
        ("resnet26_gn", "conv1.weight layer1.0.bn1.weight layer3.3.conv2.weight bn.bias fc.bias"),
    ],
)
def test_names_its_tensors_as_the_public_checkpoints_do(name: str, keys: str) -> None:
    with torch.device("meta"):
        model = models.MODELS[name].make(models.MODELS[name].num_classes)
    assert set(keys.split()) <= set(model.state_dict())


def test_the_transformers_have_layer_norms_only() -> None:
    model = models.build("cifar10_vit", weights="random")
    norms = [
        m for m in model.modules() if "Norm" in type(m).__name__ and type(m).__module__ != __name__
    ]
    kinds = {type(module) for module in norms if list(module.parameters(recurse=False))}
    assert kinds == {nn.LayerNorm}


def test_the_group_norm_net_has_no_batch_norm() -> None:
    model = models.build("cifar10_resnet20_gn", weights="random")
    assert not any(isinstance(module, nn.BatchNorm2d) for module in model.modules())
    assert sum(isinstance(module, nn.GroupNorm) for module in model.modules()) == 19


def test_a_padded_shortcut_takes_every_second_pixel_and_adds_empty_channels() -> None:
    inputs = torch.rand(1, 2, 4, 4)
    output = PadShortcut(2)(inputs)
    assert output.shape == (1, 4, 2, 2)
    assert output[0, 0].abs().sum() == output[0, 3].abs().sum() == 0
    assert output[0, 1, 1, 1] == inputs[0, 0, 2, 2]


def test_a_pooled_shortcut_averages_and_appends_empty_channels() -> None:
    inputs = torch.rand(1, 2, 4, 4)
    output = PoolShortcut()(inputs)
    assert output.shape == (1, 4, 2, 2)
    assert output[0, 2:].abs().sum() == 0
    torch.testing.assert_close(output[0, 1, 0, 1], inputs[0, 1, :2, 2:].mean())


def test_a_wide_block_projects_the_activated_input() -> None:
    block = WideBlock(4, 8, 2).eval()
    nn.init.zeros_(block.conv2.weight)
    inputs = torch.randn(2, 4, 8, 8)
    assert block.convShortcut is not None
    expected = block.convShortcut(torch.relu(block.bn1(inputs)))
    torch.testing.assert_close(block(inputs), expected)


def test_a_wide_block_of_equal_width_adds_the_raw_input() -> None:
    block = WideBlock(4, 4, 1).eval()
    nn.init.zeros_(block.conv2.weight)
    inputs = torch.randn(2, 4, 8, 8)
    torch.testing.assert_close(block(inputs), inputs)


@pytest.mark.parametrize("name", ["wrn40_2", "resnet26_gn", "cifar_resnet20", "fashion_vit"])
def test_gives_one_logit_a_class(name: str) -> None:
    model = models.build(name, weights="random", num_classes=7)
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 7)
