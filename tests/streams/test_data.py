import numpy as np
import pytest

from streams.pictures import pictures
from trimtab.streams import LabelledImages, data


def test_pixels_and_subsets_are_those_of_the_chosen_images():
    images = LabelledImages(pictures(6), np.arange(6))
    np.testing.assert_array_equal(images.pixels([4, 1]), pictures(6)[[4, 1]])
    part = images.subset([4, 1])
    assert part.labels.tolist() == [4, 1]
    assert len(part) == 2


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (pictures(2), np.zeros(3, int), "got 2 images but 3 labels"),
        (pictures(2), np.zeros(2), "expected one whole number per image as labels, got float64"),
        (pictures(2)[0], np.zeros(32, int), r"expected uint8 images of shape .* got uint8"),
        (pictures(2) / 255, np.zeros(2, int), "got float64 of shape"),
        (pictures(2), np.array([0, -1]), "labels must not be negative, got -1"),
    ],
)
def test_wrong_data_says_what_was_expected(images, labels, message):
    with pytest.raises(ValueError, match=message):
        LabelledImages(images, labels)


def test_every_dataset_in_the_table_can_be_found():
    assert all(callable(load) for load in data.DATASETS.values())
    with pytest.raises(ValueError, match=r"unknown dataset 'cifar10c'.*did you mean 'cifar10_c'"):
        data.load("cifar10c")


def test_a_further_dataset_is_one_more_entry(monkeypatch):
    monkeypatch.setitem(data.DATASETS, "mine", f"{pictures.__module__}:pictures")
    assert len(data.load("mine", count=3)) == 3


def test_arrays_are_read_from_two_files(tmp_path):
    np.save(tmp_path / "x.npy", pictures(4))
    np.save(tmp_path / "y.npy", np.arange(4, dtype=np.uint8))
    images = data.load("arrays", images=tmp_path / "x.npy", labels=tmp_path / "y.npy")
    np.testing.assert_array_equal(images.pixels([2]), pictures(4)[[2]])
    assert images.labels.tolist() == [0, 1, 2, 3]


def test_a_pickled_array_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(OSError, match="is damaged, expected uint8 images"):
        data.load("arrays", images=tmp_path / "x.npy", labels=tmp_path / "x.npy")
