"""Degraded views learn from the image itself where it is more confident."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.self_bootstrapping import SelfBootstrapping, lesson


def lesson_by_hand(view: Tensor, target: Tensor) -> Tensor:
    """The mean, over samples whose view is less confident, of sum p ln(p / q)."""
    found = []
    for q_logits, p_logits in zip(view, target, strict=True):
        p, q = p_logits.softmax(0), q_logits.softmax(0)
        if p.max() > q.max():
            found.append(sum(a * (a / b).log() for a, b in zip(p, q, strict=True)))
    return torch.stack(found).mean()


def test_a_lesson_is_the_divergence_where_the_view_is_less_confident() -> None:
    generator = torch.Generator().manual_seed(0)
    view, target = (3 * torch.randn(40, 5, generator=generator) for _ in range(2))
    torch.testing.assert_close(lesson(view, target).mean(), lesson_by_hand(view, target))
    counted = int((lesson(view, target) != 0).sum())
    assert 0 < counted < 40


def test_more_confident_views_teach_nothing() -> None:
    target = torch.tensor([[1.0, 0.0, 0.0]])
    assert lesson(3 * target, target).item() == 0
    assert lesson(0.3 * target, target).item() > 0


def test_pixels_are_compared_one_by_one() -> None:
    generator = torch.Generator().manual_seed(0)
    view, target = (torch.randn(2, 5, 3, 4, generator=generator) for _ in range(2))
    rows = [logits.permute(0, 2, 3, 1).reshape(-1, 5) for logits in (view, target)]
    torch.testing.assert_close(lesson(view, target).flatten(), lesson(*rows))


def test_every_degradation_makes_a_pass_of_its_own(model: nets.Net, images: Tensor) -> None:
    shift = SelfBootstrapping((lambda x: x * 0.5, lambda x: x * 0.9, lambda x: 1 - x))
    adapter = trimtab.adapt(model, trimtab.Method((shift,)))
    adapter(images[:16])
    assert adapter.counters.forward_samples == 4 * 16
    assert adapter.counters.updates == 1


def test_its_views_are_those_of_pixels_where_inputs_are_normalised() -> None:
    assert trimtab.build("spa").augments


def test_no_degradation_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one augmentation, got none"):
        SelfBootstrapping(())
