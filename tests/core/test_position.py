"""Which layers are last, by position in the network."""

from collections.abc import Callable

import pytest
from torch import nn

from reference import nets
from trimtab.core.backbone import Backbone, in_norm_layers
from trimtab.core.position import NormBeforeLastBlocks


def resnet50(names: str = "layer") -> nn.Module:
    """Norm layers of a ResNet-50, in its places."""

    def bottleneck(width: int, downsamples: bool) -> nn.Module:
        layers = {"bn1": width, "bn2": width, "bn3": 4 * width}
        block = nn.ModuleDict({name: nn.BatchNorm2d(size) for name, size in layers.items()})
        if downsamples:
            block["downsample"] = nn.Sequential(nn.Identity(), nn.BatchNorm2d(4 * width))
        return block

    stages = {
        f"{names}{number}": nn.Sequential(*(bottleneck(width, i == 0) for i in range(depth)))
        for number, width, depth in ((1, 64, 3), (2, 128, 4), (3, 256, 6), (4, 512, 3))
    }
    return nn.ModuleDict({"bn1": nn.BatchNorm2d(64), **stages, "fc": nn.Linear(2048, 10)})


def vit_b(depth: int = 12) -> nn.Module:
    """Norm layers of a ViT-B, in their places."""

    def block() -> nn.Module:
        return nn.ModuleDict({"norm1": nn.LayerNorm(768), "norm2": nn.LayerNorm(768)})

    blocks = nn.Sequential(*(block() for _ in range(depth)))
    return nn.ModuleDict({"blocks": blocks, "norm": nn.LayerNorm(768), "head": nn.Linear(768, 10)})


def wide_resnet() -> nn.Module:
    """Three stages, as in the networks for small images, and a norm behind them."""
    stages = {
        f"block{i}": nn.Sequential(nn.BatchNorm2d(8), nn.Conv2d(8, 8, 1), nn.BatchNorm2d(8))
        for i in (1, 2, 3)
    }
    return nn.ModuleDict({**stages, "bn1": nn.BatchNorm2d(8)})


def trained(model: nn.Module) -> set[str]:
    return set(Backbone(model).parameters(NormBeforeLastBlocks()))


def scalars(model: nn.Module) -> int:
    return sum(p.numel() for p in Backbone(model).parameters(NormBeforeLastBlocks()).values())


@pytest.mark.parametrize("names", ["layer", "stage_"])
def test_of_resnet_50_the_last_stage_is_left_out_whatever_it_is_called(names: str) -> None:
    model = resnet50(names)
    left_out = set(Backbone(model).parameters(in_norm_layers)) - trained(model)
    assert left_out
    assert {name.split(".")[0] for name in left_out} == {f"{names}4"}
    assert scalars(model) == 30_592  # of 53,120, as in the reference


def test_of_vit_b_the_last_three_blocks_and_the_final_norm_are_left_out() -> None:
    model = vit_b()
    left_out = set(Backbone(model).parameters(in_norm_layers)) - trained(model)
    blocks = {name.rsplit(".", 2)[0] for name in left_out if name.startswith("blocks")}
    assert blocks == {"blocks.9", "blocks.10", "blocks.11"}
    assert {"norm.weight", "norm.bias"} <= left_out
    assert scalars(model) == 18 * 2 * 768


def test_of_a_deeper_transformer_a_quarter_is_left_out() -> None:
    # The reference's names leave out blocks 9 to 11 of 24, in the middle.
    kept = {name.split(".")[1] for name in trained(vit_b(24)) if name.startswith("blocks")}
    assert kept == {str(index) for index in range(18)}


@pytest.mark.parametrize("wrap", [lambda m: nn.Sequential(nn.Identity(), m), lambda m: m])
def test_a_wrapper_changes_nothing(wrap: Callable[[nn.Module], nn.Module]) -> None:
    assert scalars(wrap(resnet50())) == 30_592


@pytest.mark.parametrize("norm", ["bn", "gn", "ln"])
def test_small_networks_train_all_of_their_norms(norm: str) -> None:
    model = nets.net(norm)
    assert trained(model) == set(Backbone(model).parameters(in_norm_layers))


def test_three_stages_have_no_last_one() -> None:
    model = wide_resnet()
    assert trained(model) == set(Backbone(model).parameters(in_norm_layers))


def test_only_norm_layers_are_picked() -> None:
    names = trained(resnet50()) | trained(vit_b())
    assert not any("fc" in name or "head" in name for name in names)
