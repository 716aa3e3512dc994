"""A trained predictor before the head takes up what would collapse the features."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.components.siamese_entropy import SiameseEntropy, symmetric_divergence


def by_hand(model: nets.Net, images: Tensor, lr: float, rate: float) -> tuple[Tensor, Tensor]:
    """Two updates with autograd and SGD on copies: logits of the third batch, and P."""
    model.eval()
    norms = [m for m in model.modules() if isinstance(m, (nn.GroupNorm, nn.LayerNorm))]
    params = [p for norm in norms for p in norm.parameters()]
    predictor = nn.Linear(16, 16, bias=False, dtype=images.dtype)
    nn.init.eye_(predictor.weight)
    groups: list[dict[str, Any]] = [
        {"params": params},
        {"params": [predictor.weight], "lr": rate * lr},
    ]
    optimizer = torch.optim.SGD(groups, lr=lr, momentum=0.9)
    for batch in images.split(16)[:2]:
        features = model.encoder(batch)
        online = model.classifier(predictor(features))
        target = model.classifier(features).detach()
        p, q = online.softmax(1), target.softmax(1)
        loss = -(p * p.log()).sum(1) + ((p - q) * (p.log() - q.log())).sum(1)
        optimizer.zero_grad()
        loss.mean().backward()
        optimizer.step()
    return model(images[32:48]).detach(), predictor.weight.detach()


@pytest.mark.parametrize("rate", [1.0, 10.0])
@pytest.mark.parametrize("kind", ["gn", "ln"])  # statistics of batches are another matter
def test_it_is_sgd_on_the_norms_and_on_a_predictor(
    kind: str, rate: float, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model, images = nets.trained(kind, recorded).double(), images[:48].double()
    adapter = trimtab.adapt(model, "zerosiam", lr=0.1, predictor_rate=rate)
    for batch in images.split(16)[:2]:
        adapter(batch)
    change = adapter.memory["siamese_entropy"]["change"].detach()
    expected, predictor = by_hand(model, images, 0.1, rate)
    torch.testing.assert_close(adapter(images[32:48]), expected)
    torch.testing.assert_close(torch.eye(16).double() + rate**0.5 * change, predictor)
    assert not torch.equal(change, torch.zeros_like(change))


def test_the_divergence_is_symmetric_and_zero_between_equals() -> None:
    left, right = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(symmetric_divergence(left, right), symmetric_divergence(right, left))
    torch.testing.assert_close(symmetric_divergence(left, left), torch.zeros(6))
    assert (symmetric_divergence(left, right) > 0).all()


def test_a_rate_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="predictor_rate must be positive, got 0"):
        SiameseEntropy(0)
