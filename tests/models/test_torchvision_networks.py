"""The 31 ImageNet networks of the paper."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from trimtab import Backbone, adapt, in_norm_layers, models
from trimtab.models.torchvision_networks import TORCHVISION

SMALL = ["mobilenet_v3_small", "regnet_x_400mf", "resnet18"]
SIBLINGS = {
    "densenet169": "densenet121",
    "densenet201": "densenet121",
    "regnet_x_800mf": "regnet_x_400mf",
    "regnet_y_800mf": "regnet_y_400mf",
    "regnet_y_8gf": "regnet_y_400mf",
    "regnet_y_32gf": "regnet_y_400mf",
    "resnet101": "resnet50",
    "resnet152": "resnet50",
    "resnext101_32x8d": "resnext50_32x4d",
    "swin_b": "swin_t",
    "swin_s": "swin_t",
    "swin_v2_b": "swin_v2_t",
    "swin_v2_s": "swin_v2_t",
    "vit_b_16": "vit_b_32",
    "wide_resnet101_2": "wide_resnet50_2",
}
"""Networks with more or wider layers of the same kinds, and the smaller one that learns for them.

A step would run the same code with larger tensors; what is their own is that torchvision has them
by this name, that they take images of their size and give 1,000 logits, and which layers learn.
"""
ANY_SIZE = [
    name for name in TORCHVISION if name not in SMALL and not name.startswith(("vit", "maxvit"))
]
"""Networks that take smaller images than their own, too: a step is then cheap."""
CASES = [
    pytest.param(name, marks=() if name in SMALL else pytest.mark.slow)
    for name in sorted(TORCHVISION)
    if name not in SIBLINGS
]


def test_the_paper_has_thirty_one_networks() -> None:
    assert len(TORCHVISION) == 31
    assert len(CASES) + len(SIBLINGS) == 31


INITIALISERS = (
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "trunc_normal_",
    "uniform_",
    "xavier_uniform_",
)


def kinds(model: nn.Module) -> set[type[nn.Module]]:
    return {type(module) for module in model.modules()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SIBLINGS)
def test_a_larger_sibling_has_the_layers_of_the_smaller_one(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights are whatever was in memory, and a pass is one of shapes alone, on the meta device."""
    for initialiser in INITIALISERS:
        monkeypatch.setattr(torch.nn.init, initialiser, lambda tensor, *_, **__: tensor)
    model, smaller = (models.build(each, weights="random") for each in (name, SIBLINGS[name]))
    assert kinds(model) == kinds(smaller)
    assert Backbone(model).parameters(in_norm_layers)
    size = TORCHVISION[name].preprocessing.input_size
    images = torch.rand(1, 3, size, size, device="meta")  # type: ignore[arg-type]
    assert model.to("meta").eval()(images).shape == (1, 1000)


@pytest.fixture
def quick_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights repeat a few thousand random numbers: to draw all takes longer than a step."""
    torch.manual_seed(0)
    drawn = torch.randn(4099) / 16

    def fill(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
        times = -(-tensor.numel() // len(drawn))
        with torch.no_grad():
            return tensor.copy_(drawn.repeat(times)[: tensor.numel()].view_as(tensor))

    for initialiser in INITIALISERS:
        monkeypatch.setattr(torch.nn.init, initialiser, fill)


@pytest.mark.usefixtures("quick_weights")
@pytest.mark.parametrize("name", CASES)
def test_takes_one_step_of_roid(name: str) -> None:
    backbone = models.load(name, weights="random")
    size, samples = TORCHVISION[name].preprocessing.input_size, 1
    if name in ANY_SIZE:
        size, samples = (75 if name == "inception_v3" else 64), 2  # it halves an image five times
    adapter = adapt(backbone, "roid")
    logits = adapter(torch.rand(samples, 3, size, size))  # type: ignore[arg-type]
    assert logits.shape == (samples, 1000)
    assert torch.isfinite(logits).all()
    assert adapter.counters.updates == 1
