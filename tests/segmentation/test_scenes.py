"""Scenes of Fashion-MNIST pieces, and streams of them: pixels change, their classes stay."""

import numpy as np
import pytest
import torch

from trimtab import streams
from trimtab.streams import embedded, scenes
from trimtab.streams.data import IGNORED, LabelledImages


@pytest.fixture(scope="module")
def test_scenes() -> LabelledImages:
    return streams.load("fashion_scenes")  # type: ignore[no-any-return]


def test_a_scene_has_pixels_and_their_classes(test_scenes: LabelledImages) -> None:
    assert len(test_scenes) == 750
    assert test_scenes.pixels([0, 1]).shape == (2, 56, 56, 3)
    truth = test_scenes.truth(range(750))
    assert truth.shape == (750, 56, 56)
    assert set(np.unique(truth)) == set(range(11))
    assert 0.5 < (truth == 0).mean() < 0.75  # ground
    assert test_scenes.class_names[0] == "ground"
    assert test_scenes.labels.min() >= 1


def test_scenes_are_the_same_each_time_and_parts_share_no_image() -> None:
    grey = np.arange(8 * 28 * 28, dtype=np.uint8).reshape(8, 28, 28)
    first = scenes.compose(grey, np.arange(8), seed=3)
    again = scenes.compose(grey, np.arange(8), seed=3)
    other = scenes.compose(grey, np.arange(8), seed=4)
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.array_equal(first[0], other[0])
    assert len(scenes.load("source")) == len(embedded.load("source")) // 4


def test_a_pixel_has_the_class_of_the_piece_that_covers_it() -> None:
    grey = np.zeros((4, 28, 28), dtype=np.uint8)
    grey[2, 8:20, 8:20] = 255  # the others are black all over, and cover nothing
    images, masks = scenes.compose(grey, np.array([5, 6, 7, 8]), seed=0)
    assert set(np.unique(masks)) <= {0, 8}
    if 8 in masks:
        rows, columns = np.nonzero(masks[0])
        assert rows.max() - rows.min() == columns.max() - columns.min() == 11
        inside = images[0][masks[0] == 8]
        assert (inside == inside[0]).all()  # one colour


def test_the_main_class_is_the_largest_piece() -> None:
    mask = np.zeros((1, 4, 4), dtype=np.uint8)
    mask[0, 0, :3], mask[0, 1, :2] = 9, 4
    assert scenes.main_classes(mask).tolist() == [9]


@pytest.mark.parametrize("scenario", ["continual", "mixed", "correlated"])
def test_streams_corrupt_pixels_and_leave_their_classes(
    test_scenes: LabelledImages, scenario: str
) -> None:
    stream = streams.scenario(scenario).stream(
        test_scenes, seed=0, batch_size=4, images_per_domain=2
    )
    batch = next(iter(stream))
    assert batch.inputs.shape == (len(batch), 3, 56, 56)
    assert batch.labels.dtype == torch.int64
    expected = test_scenes.truth(batch.index.numpy())
    assert np.array_equal(batch.labels.numpy(), expected)
    clean = torch.from_numpy(test_scenes.pixels(batch.index.numpy())).movedim(-1, 1) / 255
    assert float((batch.inputs - clean).abs().mean()) > 0.01


def test_masks_must_be_as_many_as_images() -> None:
    images, labels = np.zeros((2, 4, 4, 3), dtype=np.uint8), np.zeros(2, dtype=np.int64)
    with pytest.raises(ValueError, match="got 2 images but 3 masks"):
        LabelledImages(images, labels, masks=np.zeros((3, 4, 4), dtype=np.uint8))


def test_a_subset_has_its_masks() -> None:
    images, labels = np.zeros((3, 2, 2, 3), dtype=np.uint8), np.arange(3)
    masks = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    masks[2, 0, 0] = IGNORED
    subset = LabelledImages(images, labels, masks=masks).subset([2])
    assert subset.truth([0]).tolist() == [[[IGNORED, 9], [10, 11]]]
