"""The 31 ImageNet networks of the paper."""

from typing import Any

import pytest
import torch
from torch import Tensor

from trimtab import adapt, models
from trimtab.models.torchvision_networks import TORCHVISION

SMALL = ["mobilenet_v3_small", "regnet_x_400mf", "resnet18"]
ANY_SIZE = [
    name for name in TORCHVISION if name not in SMALL and not name.startswith(("vit", "maxvit"))
]
"""Networks that take smaller images than their own, too: a step is then cheap."""
CASES = [
    pytest.param(name, marks=() if name in SMALL else pytest.mark.slow)
    for name in sorted(TORCHVISION)
]


def test_the_paper_has_thirty_one_networks() -> None:
    assert len(TORCHVISION) == 31


@pytest.fixture
def quick_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights repeat a few thousand random numbers: to draw all takes longer than a step."""
    torch.manual_seed(0)
    drawn = torch.randn(4099) / 16

    def fill(tensor: Tensor, *_: Any, **__: Any) -> Tensor:
        times = -(-tensor.numel() // len(drawn))
        with torch.no_grad():
            return tensor.copy_(drawn.repeat(times)[: tensor.numel()].view_as(tensor))

    names = ("kaiming_normal_", "kaiming_uniform_", "normal_", "trunc_normal_", "uniform_")
    for name in (*names, "xavier_uniform_"):
        monkeypatch.setattr(torch.nn.init, name, fill)


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
