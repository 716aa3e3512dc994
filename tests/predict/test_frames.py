"""Where images come from."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from predict.pictures import write
from trimtab.predict.frames import count, decoded, frames, frames_of
from trimtab.streams.image_files import read_image


def animation(path: Path, shades: tuple[int, ...] = (10, 120, 250)) -> Path:
    pages = [Image.new("L", (8, 6), shade) for shade in shades]
    pages[0].save(path, save_all=True, append_images=pages[1:], duration=10)
    return path


def test_folders_patterns_and_files_are_found_in_order(tmp_path: Path) -> None:
    write(tmp_path / "b" / "c", 2)
    write(tmp_path / "a", 1)
    (tmp_path / "a" / "notes.txt").write_text("no image")
    every = [frame.name for frame in frames([tmp_path])]
    assert every == [str(tmp_path / name) for name in ("a/000.png", "b/c/000.png", "b/c/001.png")]
    assert [f.name for f in frames([f"{tmp_path}/**/000.png"])] == every[:2]
    assert [f.name for f in frames([every[2], every[0]])] == [every[2], every[0]]
    assert count([tmp_path, every[0]]) == 4
    assert count(["-", tmp_path]) is None


def test_brackets_in_a_name_are_no_pattern(tmp_path: Path) -> None:
    [path] = write(tmp_path / "[red]", 1)
    assert [frame.name for frame in frames([path])] == [str(path)]


@pytest.mark.parametrize("ending", ["gif", "png", "webp", "tiff"])
def test_an_animation_gives_its_frames(tmp_path: Path, ending: str) -> None:
    path = animation(tmp_path / f"clip.{ending}")
    found = list(frames_of(path))
    assert [frame.name for frame in found] == [f"{path}#{number}" for number in range(3)]
    shades = [int(np.asarray(frame.decode())[0, 0, 0]) for frame in found]
    assert np.allclose(shades, (10, 120, 250), atol=4)


@pytest.mark.slow
def test_a_video_gives_its_frames_and_says_where_it_breaks_off(tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v3")
    path = tmp_path / "clip.mp4"
    pixels = np.stack([np.full((32, 32, 3), shade, np.uint8) for shade in (20, 130, 240)])
    imageio.imwrite(path, pixels, plugin="pyav", codec="mpeg4", fps=5)
    found = list(frames([path]))
    assert [frame.name for frame in found] == [f"{path}#{number}" for number in range(3)]
    shades = [int(np.asarray(frame.decode()).mean()) for frame in found]
    assert np.allclose(shades, (20, 130, 240), atol=12)
    path.write_bytes(b"no video")
    [broken] = frames([path])
    with pytest.raises(OSError, match=r"cannot decode the video .* from frame 0 on"):
        broken.decode()


def test_a_video_without_imageio_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "clip.mp4").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "imageio", None)
    monkeypatch.setitem(sys.modules, "imageio.v3", None)
    with pytest.raises(ImportError, match=r"pip install 'trimtab\[video\]'"):
        list(frames([tmp_path / "clip.mp4"]))


def test_paths_come_from_standard_input_as_they_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = write(tmp_path, 2)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{second}\n\n{first}\nnowhere.png"))
    names = [str(second), str(first), "nowhere.png"]
    assert [frame.name for frame in frames(["-"])] == names


def test_pictures_are_turned_the_way_the_camera_was_held(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side
    Image.new("RGB", (8, 4)).save(tmp_path / "photo.jpg", exif=exif)
    assert decoded(tmp_path / "photo.jpg").size == (4, 8)


def test_grey_and_transparent_pictures_become_rgb(tmp_path: Path) -> None:
    for mode in ("L", "RGBA", "P", "1", "I;16"):
        Image.new(mode, (4, 4)).save(tmp_path / "picture.png")
        assert decoded(tmp_path / "picture.png").mode == "RGB"


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_grey_of_16_bits_has_the_brightness_that_it_has(ending: str, tmp_path: Path) -> None:
    grey = np.linspace(0, 65535, 64).round().astype(np.uint16).reshape(8, 8)
    Image.fromarray(grey).save(tmp_path / f"depth.{ending}")
    expected = (grey / 257).round().astype(np.uint8)[..., None].repeat(3, 2)
    assert np.array_equal(np.asarray(decoded(tmp_path / f"depth.{ending}")), expected)
    assert np.array_equal(read_image(tmp_path / f"depth.{ending}"), expected)


@pytest.mark.parametrize("kind", [np.float32, np.int32])
def test_numbers_of_32_bits_are_no_picture(kind: type, tmp_path: Path) -> None:
    Image.fromarray(np.ones((4, 4), kind)).save(tmp_path / "heights.tif")
    with pytest.raises(OSError, match="of which nobody knows the range; save it with 8 or 16 bits"):
        decoded(tmp_path / "heights.tif")
