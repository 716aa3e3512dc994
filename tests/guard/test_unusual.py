"""What is unusual in a batch calls for a look, however large a method's outputs are."""

import pytest
import torch
from torch import Tensor

from trimtab.core.guard import unusual
from trimtab.core.guard.settings import Guard, new_evidence


def logits(seed: int, sure: float) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    noise = torch.randn(64, 10, generator=random)
    return noise + sure * torch.eye(10)[torch.randint(10, (64,), generator=random)]


@pytest.mark.parametrize("scale", [1.0, 0.1, 0.02])
def test_a_fall_of_confidence_shows_at_every_scale_of_logits(scale: float) -> None:
    evidence, inputs = new_evidence(Guard(), only_corrects=False), torch.rand(64, 3, 8, 8)
    for seed in range(8):
        found = unusual.facts(inputs, scale * logits(seed, sure=4.0))
        evidence, surprise = unusual.noted(evidence, found)
        assert not surprise.unsure
    _, surprise = unusual.noted(evidence, unusual.facts(inputs, scale * logits(9, sure=2.0)))
    assert surprise.unsure
