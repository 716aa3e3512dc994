"""Consistency with an augmented view."""

from dataclasses import replace

import torch
from torch import Tensor

from components.steps import step
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.core.prediction import Prediction


def test_the_loss_is_the_symmetric_cross_entropy_of_both_views() -> None:
    clean, augmented = torch.randn(4, 3), torch.randn(4, 3)
    component = AugmentationConsistency()
    seen = replace(
        step(clean),
        forward=lambda inputs, params=None: Prediction(augmented, None),  # type: ignore[arg-type]
        views={component.name: torch.zeros(4, 1)},
    )
    p, q = clean.softmax(1), augmented.softmax(1)
    expected = -0.5 * (p * q.log()).sum(1) - 0.5 * (q * p.log()).sum(1)
    torch.testing.assert_close(component.loss(seen, {}), expected)


def test_an_augmentation_that_takes_a_generator_gets_the_streams() -> None:
    def jitter(x: Tensor, generator: torch.Generator) -> Tensor:
        return x + torch.rand(x.shape, generator=generator)

    x = torch.zeros(2, 3)
    first = AugmentationConsistency(jitter).views(x, torch.Generator().manual_seed(1))
    again = AugmentationConsistency(jitter).views(x, torch.Generator().manual_seed(1))
    assert torch.equal(first, again)


def test_any_callable_on_a_batch_serves() -> None:
    flip = AugmentationConsistency(lambda x: x.flip(-1))
    assert flip.views(torch.tensor([[1.0, 2.0]]), torch.Generator()).tolist() == [[2.0, 1.0]]
