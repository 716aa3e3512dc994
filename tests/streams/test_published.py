"""Published datasets, read from tiny trees in their layout."""

import numpy as np
import pytest
from PIL import Image

from streams.pictures import pictures
from trimtab.imagenet_classes import IMAGENET_D109, IMAGENET_R
from trimtab.streams import LabelledImages, load, scenario
from trimtab.streams.domainnet import DOMAINS
from trimtab.streams.folders import Crop, ImageFiles

TWO = ("fog", "snow")


def _save(path, colour, size=(8, 8)):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)


def _cifar_c(root):
    for name in TWO:
        levels = [np.full((4, 32, 32, 3), 10 * s + len(name), np.uint8) for s in range(1, 6)]
        np.save(root / f"{name}.npy", np.concatenate(levels))
    np.save(root / "labels.npy", np.tile([3, 1, 0, 2], 5))


@pytest.mark.parametrize("dataset", ["cifar10_c", "cifar100_c"])
def test_cifar_c_has_severities_one_after_the_other(tmp_path, dataset):
    _cifar_c(tmp_path)
    domains = load(dataset, root=tmp_path, names=TWO)
    batches = list(scenario("gradual").stream(domains, batch_size=4))
    assert [round(float(b.inputs[0, 0, 0, 0]) * 255) for b in batches[:5]] == [13, 23, 33, 43, 53]
    assert sorted(batches[0].labels.tolist()) == [0, 1, 2, 3]
    by_index = dict(zip(batches[0].index.tolist(), batches[0].labels.tolist(), strict=True))
    assert by_index == {0: 3, 1: 1, 2: 0, 3: 2}


def test_clean_images_can_stand_beside_stored_domains(tmp_path):
    _cifar_c(tmp_path)
    clean = LabelledImages(pictures(6), np.zeros(6, int))
    stream = scenario("alternating").stream(
        load("cifar10_c", root=tmp_path, names=TWO, clean=clean)
    )
    assert [len(batch) for batch in stream] == [4, 6, 4, 6]


def test_a_missing_cifar_file_says_where_it_is_published(tmp_path):
    _cifar_c(tmp_path)
    with pytest.raises(
        FileNotFoundError,
        match=r"gaussian_noise.npy \(published at https://zenodo.org/records/2535967\)",
    ):
        load("cifar10_c", root=tmp_path)


def test_a_damaged_or_odd_cifar_file_is_refused(tmp_path):
    _cifar_c(tmp_path)
    whole = (tmp_path / "fog.npy").read_bytes()
    (tmp_path / "fog.npy").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(OSError, match=r"fog.npy is damaged, expected uint8 images"):
        load("cifar10_c", root=tmp_path, names=TWO)
    np.save(tmp_path / "fog.npy", np.zeros((7, 32, 32, 3), np.uint8))
    with pytest.raises(
        ValueError, match=r"expected .* in .*fog.npy, got uint8 of \(7, 32, 32, 3\)"
    ):
        load("cifar10_c", root=tmp_path, names=TWO)
    np.save(tmp_path / "fog.npy", np.zeros((50, 32, 32, 3), np.uint8))
    np.save(tmp_path / "labels.npy", np.zeros(9, int))
    with pytest.raises(ValueError, match="expected at least 10 labels"):
        load("cifar10_c", root=tmp_path, names=TWO)


def test_a_folder_tree_numbers_classes_by_name_and_crops_the_centre(tmp_path):
    _save(tmp_path / "b" / "1.png", (1, 2, 3), (40, 20))
    _save(tmp_path / "a" / "2.png", (4, 5, 6), (20, 30))
    images = load("folder", root=tmp_path, size=16, resize=18)
    assert images.class_names == ("a", "b")
    assert images.labels.tolist() == [0, 1]
    assert images.pixels([1]).shape == (1, 16, 16, 3)
    assert images.pixels([1, 0])[:, 0, 0].tolist() == [[1, 2, 3], [4, 5, 6]]


def test_threads_decode_the_same_as_one(tmp_path):
    for number, picture in enumerate(pictures(9, 16, 16)):
        Image.fromarray(picture).save(tmp_path / f"{number}.png")
    paths = sorted(tmp_path.iterdir())
    one, four = (ImageFiles(paths, Crop(16, None), workers=count) for count in (1, 4))
    np.testing.assert_array_equal(one[np.arange(9)], pictures(9, 16, 16))
    np.testing.assert_array_equal(one[np.arange(9)], four[np.arange(9)])


def test_a_damaged_image_names_its_path(tmp_path):
    _save(tmp_path / "a" / "1.png", (1, 2, 3), (224, 224))
    (tmp_path / "a" / "1.png").write_bytes(b"not an image")
    images = load("folder", root=tmp_path)
    with pytest.raises(OSError, match=r"cannot decode the image .*1.png"):
        images.pixels([0])


def _imagenet_c(root):
    for name in TWO:
        for severity in range(1, 6):
            for place, wnid in enumerate(("n01", "n02")):
                for number in range(3):
                    path = root / name / str(severity) / wnid / f"{number}.JPEG"
                    _save(path, (severity * 20, place * 100, number * 50), (224, 224))


def test_imagenet_c_is_read_whole_as_a_seeded_subset_or_from_a_list(tmp_path):
    _imagenet_c(tmp_path)
    domains = load("imagenet_c", root=tmp_path, names=TWO)
    assert domains.labels("fog").tolist() == [0, 0, 0, 1, 1, 1]
    pixel = domains.pixels("snow", 2, np.array([4]), 0)[0, 0, 0].tolist()
    assert np.abs(np.array(pixel) - [40, 100, 50]).max() <= 3
    subset = load("imagenet_c", root=tmp_path, names=TWO, images=4, subset_seed=1)
    again = load("imagenet_c", root=tmp_path, names=TWO, images=4, subset_seed=1)
    assert len(subset.labels("snow")) == 4
    np.testing.assert_array_equal(subset.labels("snow"), again.labels("snow"))
    (tmp_path / "list.txt").write_text("n02/1.JPEG\nn01/0.JPEG\n")
    listed = load("imagenet_c", root=tmp_path, names=TWO, list_file=tmp_path / "list.txt")
    assert listed.labels("fog").tolist() == [1, 0]


def test_imagenet_c_names_the_first_missing_file_and_refuses_odd_lists(tmp_path):
    _imagenet_c(tmp_path)
    (tmp_path / "snow" / "5" / "n02" / "1.JPEG").unlink()
    with pytest.raises(
        FileNotFoundError, match=r"1 of 6 files are missing, the first is .*snow.5.n02.1.JPEG"
    ):
        load("imagenet_c", root=tmp_path, names=TWO)
    (tmp_path / "list.txt").write_text("../secret\n")
    with pytest.raises(ValueError, match=r"expected <wnid>/<file> with a known wnid"):
        load("imagenet_c", root=tmp_path, names=("fog",), list_file=tmp_path / "list.txt")
    with pytest.raises(ValueError, match=r"images must lie in 1..6"):
        load("imagenet_c", root=tmp_path, names=("fog",), images=7)


def test_imagenet_r_has_two_hundred_classes_and_their_indices(tmp_path):
    for number in range(200):
        _save(tmp_path / f"n{number:03}" / "a.png", (number, 0, 0))
    domains = load("imagenet_r", root=tmp_path, size=8, resize=None)
    assert domains.class_indices == IMAGENET_R
    assert len(set(IMAGENET_R)) == 200
    assert domains.labels("imagenet_r").tolist() == list(range(200))
    stream = scenario("single").stream(domains, batch_size=64)
    assert stream.class_indices == IMAGENET_R
    (tmp_path / "n007" / "a.png").unlink()
    (tmp_path / "n007").rmdir()
    with pytest.raises(ValueError, match=r"expected 200 class folders .* got 199"):
        load("imagenet_r", root=tmp_path)


def test_sketch_and_validation_are_class_folders(tmp_path):
    for number in range(3):
        _save(tmp_path / f"n{number}" / "a.JPEG", (number, 0, 0))
    sketch = load("imagenet_sketch", root=tmp_path, size=8, resize=None)
    assert sketch.names == ("imagenet_sketch",)
    clean = load("imagenet", root=tmp_path, size=8, resize=None)
    assert clean.labels.tolist() == [0, 1, 2]
    with pytest.raises(FileNotFoundError, match=r"expected a folder per class .*ImageNet-Sketch"):
        load("imagenet_sketch", root=tmp_path / "nowhere")


def test_d109_keeps_its_classes_merges_three_and_leaves_out_the_rest(tmp_path):
    for domain in DOMAINS:
        for name in (*IMAGENET_D109, "hot_tub", "couch", "ceiling_fan", "zigzag"):
            _save(tmp_path / domain / name / "a.png", (9, 9, 9))
    domains = load("imagenet_d109", root=tmp_path, size=8, resize=None)
    assert domains.names == DOMAINS
    labels = domains.labels("real")
    assert len(labels) == 109 + 3
    names = list(IMAGENET_D109)
    counts = np.bincount(labels)
    assert [names[label] for label in np.flatnonzero(counts == 2)] == ["bathtub", "bed", "fan"]
    assert domains.class_indices is not None
    assert domains.class_indices[names.index("zebra")] == 340
    with pytest.raises(FileNotFoundError, match="expected DomainNet's images"):
        load("imagenet_d109", root=tmp_path, domains=("quickdraw",))
