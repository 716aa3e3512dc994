"""Samples that wait for an update: held once, side by side, and apart where streams divide."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from core.attempts import attempt_of
from reference import nets
from trimtab import methods
from trimtab.augment import ColorAffineBlurNoise, ColorAffineFlip
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.core.prediction import Prediction
from trimtab.core.views import PartialViews
from trimtab.core.window import Window


def told(samples: int) -> Prediction:
    return Prediction(torch.zeros(samples, 2), None)


def filled(window: Window, *batches: Tensor) -> Window:
    for batch in batches:
        window.collect(batch, told(len(batch)))
    return window


def test_a_full_window_is_released_without_a_copy(images: Tensor) -> None:
    window = filled(Window(6), images[:1], images[1:4], images[4:6])
    held = {part.untyped_storage().data_ptr() for part in window.inputs}
    released, _ = window.release()
    assert held == {released.untyped_storage().data_ptr()}
    assert torch.equal(released, images[:6])
    assert window.inputs == []


def test_what_the_caller_does_to_its_batch_changes_nothing_that_waits(images: Tensor) -> None:
    frame = images[:2].clone()
    window = filled(Window(4), frame)
    frame.zero_()
    assert torch.equal(filled(window, images[2:4]).release()[0], images[:4])


def test_copies_of_a_window_go_on_by_themselves(images: Tensor) -> None:
    first = filled(Window(5), images[:1])
    second = filled(first.copy(), images[10:12])  # takes the places that come next
    third = filled(first.copy(), images[20:21], images[21:22])
    filled(first, images[1:2], images[2:5])
    filled(third, images[22:24])
    filled(second, images[12:14])
    expected = [range(5), [0, 10, 11, 12, 13], [0, 20, 21, 22, 23]]
    for window, rows in zip((first, second, third), expected, strict=True):
        assert torch.equal(window.release()[0], images[list(rows)])


@pytest.mark.parametrize("last", [3, 1])
def test_a_window_that_ends_elsewhere_than_it_should_is_whole(images: Tensor, last: int) -> None:
    window = filled(Window(4), images[:2], images[2 : 2 + last])
    assert torch.equal(window.release()[0], images[: 2 + last])


@pytest.mark.parametrize("augment", [ColorAffineFlip(), ColorAffineBlurNoise()])
def test_views_of_parts_are_those_of_all_samples(
    model: nets.Net, images: Tensor, augment: ColorAffineFlip
) -> None:
    by_part = type(augment) is ColorAffineFlip  # noise is another one for each image
    assert AugmentationConsistency(augment=augment).views_by_part == by_part
    adapter = trimtab.adapt(model, methods.build("roid", augment=augment), micro_batch=3)
    adapter(images[:16])
    kept = torch.arange(16) % 3 > 0
    whole, parts = attempt_of(adapter), attempt_of(adapter)
    (expected,) = whole.method.playing(AugmentationConsistency)
    everything = expected.views(images[:16][kept], whole.state.generator)
    views = PartialViews(parts, images[:16], kept)
    used = kept.nonzero()[:, 0].split(4)
    found = torch.cat([next(iter(views.of(rows).values())) for rows in used])
    torch.testing.assert_close(found, everything, atol=1e-6, rtol=0)
    assert torch.equal(parts.state.generator.get_state(), whole.state.generator.get_state())


class FirstToken(nn.Module):
    """Classifies by the first of many tokens, as transformers do."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(8)
        self.classifier = nn.Linear(8, 3)

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.norm(images.flatten(1).unflatten(1, (-1, 8)))
        return self.classifier(tokens[:, 0])  # type: ignore[no-any-return]


@pytest.mark.parametrize("batch", [1, 2])
def test_what_waits_holds_the_class_token_and_not_all_tokens(batch: int) -> None:
    """64 single images of a ViT-B/16 held 37 MB of tokens that nobody would look at again."""
    adapter = trimtab.adapt(FirstToken(), "roid", window=8)
    adapter(torch.rand(batch, 3, 8, 8))
    (waiting,) = adapter.state.window.predictions
    assert waiting.features is not None
    assert waiting.features.shape == (batch, 8)
    assert waiting.features.untyped_storage().nbytes() == waiting.features.nbytes
