"""Training batches."""

import torch

from trimtab.models.train.batches import TrainingSet, batches, shift
from trimtab.models.train.recipe import Recipe

IMAGES = torch.randint(0, 256, (20, 8, 8, 3), dtype=torch.uint8)
LABELS = torch.arange(20, dtype=torch.uint8) % 10
DATA = TrainingSet(IMAGES, LABELS)


def shifted_slowly(image: torch.Tensor, down: int, right: int) -> torch.Tensor:
    """One image moved pixel by pixel, mirrored at its border."""
    size = len(image)
    moved = torch.empty_like(image)
    for row in range(size):
        for column in range(size):
            y, x = abs(row + down), abs(column + right)
            moved[row, column] = image[min(y, 2 * size - 2 - y), min(x, 2 * size - 2 - x)]
    return moved


def test_each_image_is_moved_as_if_pixel_by_pixel() -> None:
    moved = shift(IMAGES, 2, torch.Generator().manual_seed(0))
    steps = [(down, right) for down in range(-2, 3) for right in range(-2, 3)]
    for before, after in zip(IMAGES, moved, strict=True):
        assert any(torch.equal(after, shifted_slowly(before, *step)) for step in steps)


def test_no_reach_moves_nothing() -> None:
    assert torch.equal(shift(IMAGES, 0, torch.Generator()), IMAGES)


def test_an_epoch_shows_each_image_at_most_once_in_full_batches() -> None:
    recipe = Recipe(epochs=1, batch_size=6, max_shift=1)
    epoch = list(batches(DATA, recipe, 0))
    assert [len(batch.labels) for batch in epoch] == [6, 6, 6]
    assert all(batch.inputs.shape == (6, 3, 8, 8) for batch in epoch)
    assert all(batch.inputs.min() >= 0 and batch.inputs.max() <= 1 for batch in epoch)


def test_the_seed_and_the_epoch_decide_the_batches() -> None:
    recipe = Recipe(epochs=2, batch_size=6)
    first, again, other = (next(batches(DATA, recipe, epoch)) for epoch in (0, 0, 1))
    assert torch.equal(first.inputs, again.inputs)
    assert not torch.equal(first.inputs, other.inputs)


def test_early_epochs_use_small_images() -> None:
    recipe = Recipe(epochs=2, small_epochs=1, small_size=6, batch_size=4)
    sizes = [next(batches(DATA, recipe, epoch)).inputs.shape[2] for epoch in (0, 1)]
    assert sizes == [6, 8]


def test_the_teachers_logits_are_those_of_the_image_as_it_is_turned() -> None:
    left, right = torch.zeros(20, 8, 8, 3), torch.zeros(20, 8, 8, 3)
    left[:, :, :4], right[:, :, 4:] = 255, 255
    teacher = torch.stack((torch.zeros(20, 10), torch.ones(20, 10)))
    data = TrainingSet(left.byte(), LABELS, teacher)
    batch = next(batches(data, Recipe(epochs=1, batch_size=20, max_shift=0), 0))
    assert batch.teacher is not None
    mirrored = batch.inputs[:, 0, 0, 7] == 1
    assert 0 < mirrored.sum() < 20
    assert torch.equal(batch.teacher[:, 0] == 1, mirrored)
