"""The images that come with the package."""

import gzip
import hashlib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from trimtab import streams
from trimtab.streams import embedded
from trimtab.streams.embedded import CLASSES, as_rgb, embedded_images


def test_every_class_is_there_equally_often() -> None:
    images, labels = embedded_images()
    assert images.shape == (4000, 32, 32, 3)
    assert images.dtype == np.uint8
    assert np.bincount(labels).tolist() == [400] * len(CLASSES)


def test_they_are_a_dataset_by_name() -> None:
    dataset = streams.load("fashion_mnist")
    assert len(dataset) == 3000
    assert dataset.class_names[9] == "ankle boot"
    assert np.array_equal(dataset.pixels([5])[0], embedded_images()[0][5])


def test_tests_and_source_share_the_images_and_hold_every_class_alike() -> None:
    test, source = streams.load("fashion_mnist"), streams.load("fashion_mnist", part="source")
    assert np.bincount(test.labels).tolist() == [300] * 10
    assert np.bincount(source.labels).tolist() == [100] * 10
    together = {image.tobytes() for part in (test, source) for image in part.images}
    assert together == {image.tobytes() for image in embedded_images()[0]}


def test_the_packed_file_is_small() -> None:
    assert len((resources.files("trimtab.streams") / "embedded.npz").read_bytes()) < 2_000_000


def test_grey_images_get_a_black_border_and_equal_channels() -> None:
    grey = np.random.default_rng(0).integers(1, 256, (2, 28, 28), dtype=np.uint8)
    colour = as_rgb(grey)
    assert colour.shape == (2, 32, 32, 3)
    for channel in range(3):
        assert np.array_equal(colour[:, 2:30, 2:30, channel], grey)
    assert colour.sum() == 3 * grey.sum(dtype=np.int64)


def idx(array: np.ndarray) -> bytes:
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes()
    return header + array.tobytes()


@pytest.fixture
def official(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small dataset in the official form, and its hashes in the place of the real ones."""
    draw = np.random.default_rng(0)
    stated = {}
    for what, (name, _) in embedded.OFFICIAL.items():
        count = 60 if "train" in what else 40
        array = np.arange(count, dtype=np.uint8) % 10
        if "images" in what:
            array = draw.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        (tmp_path / name).write_bytes(gzip.compress(idx(array)))
        stated[what] = (name, hashlib.sha256(idx(array)).hexdigest())
    monkeypatch.setattr(embedded, "OFFICIAL", stated)
    monkeypatch.setattr(embedded, "PER_CLASS", 3)
    return tmp_path


def test_packing_keeps_the_first_images_of_each_class(official: Path, tmp_path: Path) -> None:
    embedded.pack(official, tmp_path / "packed.npz")
    arrays = embedded.read_official(official)
    with np.load(tmp_path / "packed.npz", allow_pickle=False) as packed:
        assert np.array_equal(packed["images"], arrays["test_images"][:30])
        assert packed["labels"].tolist() == [*range(10)] * 3


def test_all_images_can_be_written_for_training(
    official: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from safetensors.numpy import load_file

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    arrays = load_file(embedded.prepare_all(official))
    assert arrays["train_images"].shape == (60, 32, 32, 3)
    assert arrays["test_labels"].shape == (40,)


def test_a_file_that_is_not_the_official_one_is_refused(official: Path) -> None:
    path = official / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(idx(np.zeros(40, np.uint8))))
    with pytest.raises(ValueError, match=r"t10k-labels-idx1-ubyte\.gz is not the official file"):
        embedded.read_official(official)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"train-images-idx3-ubyte\.gz"):
        embedded.read_official(tmp_path)
