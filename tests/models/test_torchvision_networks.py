"""The 31 ImageNet networks of the paper."""

import pytest
import torch

from trimtab import adapt, models
from trimtab.models.torchvision_networks import TORCHVISION

SMALL = ["mobilenet_v3_small", "regnet_x_400mf", "resnet18"]
CASES = [
    pytest.param(name, marks=() if name in SMALL else pytest.mark.slow)
    for name in sorted(TORCHVISION)
]


def test_the_paper_has_thirty_one_networks() -> None:
    assert len(TORCHVISION) == 31


@pytest.mark.parametrize("name", CASES)
def test_takes_one_step_of_roid_at_its_own_input_size(name: str) -> None:
    torch.manual_seed(0)
    backbone = models.load(name, weights="random")
    size = TORCHVISION[name].preprocessing.input_size
    adapter = adapt(backbone, "roid")
    logits = adapter(torch.rand(2, 3, size, size))
    assert logits.shape == (2, 1000)
    assert torch.isfinite(logits).all()
    assert adapter.counters.updates == 1
