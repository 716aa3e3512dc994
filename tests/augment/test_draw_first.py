"""Alterations draw first and apply afterwards, so that many streams' images can go together."""

from typing import Any

import pytest
import torch
from torch import Tensor

from trimtab.augment import ColorAffineBlurNoise, ColorAffineFlip
from trimtab.augment.augmix import AugMix
from trimtab.augment.contrast import StrongView, WeakView
from trimtab.augment.destroy import Occlusion, PatchShuffle, PixelShuffle
from trimtab.augment.draw_first import DrawFirst

ALL: tuple[DrawFirst[Any], ...] = (
    ColorAffineFlip(),
    ColorAffineBlurNoise(),
    AugMix(),
    WeakView(),
    StrongView(),
    PatchShuffle(),
    PixelShuffle(),
    Occlusion(),
)
SHAPES = [(5, 3, 16, 16), (4, 1, 12, 20), (2, 3, 70, 66)]


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def images(shape: tuple[int, ...]) -> Tensor:
    return torch.rand(shape, generator=generator(1))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rule", ALL, ids=lambda rule: type(rule).__name__)
def test_a_call_is_a_draw_and_its_application(rule: DrawFirst[Any], shape: tuple[int, ...]) -> None:
    shown, drawing, calling = images(shape), generator(), generator()
    draw = rule.draw(drawing, shown.shape)
    assert torch.equal(rule.apply(shown, draw), rule(shown, calling))
    assert torch.equal(drawing.get_state(), calling.get_state())


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: type(rule).__name__)
def test_applying_a_draw_again_gives_the_same(rule: DrawFirst[Any]) -> None:
    shown = images(SHAPES[0])
    draw = rule.draw(generator(), shown.shape)
    assert torch.equal(rule.apply(shown, draw), rule.apply(shown, draw))


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: type(rule).__name__)
def test_what_is_no_batch_of_images_is_refused_before_anything_is_drawn(
    rule: DrawFirst[Any],
) -> None:
    fresh = generator()
    with pytest.raises(ValueError, match=r"\(batch, channels, height, width\), got \(4, 7\)"):
        rule(torch.rand(4, 7), fresh)
    assert torch.equal(fresh.get_state(), generator().get_state())
