import json

import numpy as np
import pytest
from PIL import Image

from streams.pictures import pictures
from trimtab.cli.main import main
from trimtab.streams import corrupt, load
from trimtab.streams.copies import RECORD


@pytest.fixture
def array(tmp_path):
    np.save(tmp_path / "images.npy", pictures(70, 16, 16))
    np.save(tmp_path / "classes.npy", np.arange(70) % 10)
    return tmp_path / "images.npy"


@pytest.fixture
def folder(tmp_path):
    for number, picture in enumerate(pictures(4, 20, 24)):
        path = tmp_path / "in" / f"class{number % 2}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture if number else picture[:16]).save(path)
    return tmp_path / "in"


def run(*words):
    return main(["corrupt", *map(str, words)])


def test_an_array_becomes_the_layout_of_cifar_c(array, tmp_path):
    target = tmp_path / "out"
    labels = tmp_path / "classes.npy"
    assert run(array, target, "--corruptions", "fog", "contrast", "--labels", labels) == 0
    written = np.load(target / "fog.npy")
    assert written.shape == (350, 16, 16, 3)
    np.testing.assert_array_equal(written[140:210], corrupt(pictures(70, 16, 16), "fog", 3))
    domains = load("cifar10_c", root=target, names=("fog", "contrast"))
    assert domains.labels("fog").tolist() == [n % 10 for n in range(70)]


def test_a_folder_becomes_the_layout_of_imagenet_c(folder, tmp_path):
    target = tmp_path / "out"
    assert run(folder, target, "--corruptions", "fog", "--severities", "2", "5", "--seed", "7") == 0
    files = sorted(path.relative_to(target).as_posix() for path in target.rglob("*.png"))
    expected = ["class0/0.png", "class0/2.png", "class1/1.png", "class1/3.png"]
    assert files == [f"fog/{level}/{name}" for level in (2, 5) for name in expected]
    # Sorted, the third file is class1/1.png; it has another size than the first.
    third = np.asarray(Image.open(target / "fog" / "5" / "class1" / "1.png"))
    clean = pictures(4, 20, 24)[1:2]
    np.testing.assert_array_equal(third, corrupt(clean, "fog", 5, seed=7, indices=[2])[0])


def test_what_is_there_is_kept_and_what_is_missing_is_made(folder, tmp_path):
    target = tmp_path / "out"
    words = (folder, target, "--corruptions", "contrast", "--severities", "5")
    run(*words)
    kept, lost = (target / "contrast" / "5" / "class0" / f"{n}.png" for n in (0, 2))
    expected = lost.read_bytes()
    kept.write_bytes(b"mine")
    lost.unlink()
    assert run(*words) == 0
    assert kept.read_bytes() == b"mine"
    assert lost.read_bytes() == expected
    assert run(*words, "--force") == 0
    assert kept.read_bytes() != b"mine"


def test_an_interrupted_array_leaves_nothing_half_written(array, tmp_path):
    from trimtab.streams import copies

    target = tmp_path / "out"
    whole = copies.Copies(("fog", "contrast"))
    done = []

    def stop_in_the_second(count):
        done.append(count)
        if sum(done) > 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copies.copy_array(whole, array, target, progress=stop_in_the_second)
    assert sorted(path.name for path in target.iterdir()) == [RECORD, "fog.npy"]
    before = (target / "fog.npy").stat().st_mtime_ns
    copies.copy_array(whole, array, target, progress=lambda _: None)
    assert (target / "fog.npy").stat().st_mtime_ns == before
    np.testing.assert_array_equal(
        np.load(target / "contrast.npy")[:70], corrupt(pictures(70, 16, 16), "contrast", 1)
    )


def test_other_settings_do_not_mix_with_earlier_copies(array, tmp_path, capsys):
    target = tmp_path / "out"
    run(array, target, "--corruptions", "fog", "--seed", "1")
    assert run(array, target, "--corruptions", "fog", "--seed", "2") == 2
    assert "made with other settings" in capsys.readouterr().err
    assert run(array, target, "--corruptions", "contrast", "--seed", "1") == 0
    assert run(array, target, "--corruptions", "fog", "--seed", "2", "--force") == 0
    assert json.loads((target / RECORD).read_text())["seed"] == 2


def test_a_preview_is_one_png_of_all_corruptions(array, tmp_path, capsys):
    sheet = tmp_path / "sheet.png"
    assert run(array, sheet, "--preview") == 0
    with Image.open(sheet) as image:
        assert image.size == (128 + 6 * 100, 18 + 19 * 100)
    assert run(array, sheet, "--preview") == 2
    assert "exists; give --force" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere", "out"), "expected a folder of images or a .npy file at nowhere"),
        (("{array}", "out", "--corruptions", "fogg"), "unknown corruption 'fogg'"),
        (("{folder}", "out", "--labels", "x.npy"), "--labels goes with an array file"),
    ],
)
def test_mistakes_are_told_in_a_sentence(words, message, array, folder, capsys):
    assert run(*(word.format(array=array, folder=folder) for word in words)) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("below", ["", "class0", "class0/copies"])
def test_copies_are_kept_apart_from_the_folder_that_they_are_made_of(folder, below, capsys):
    before = sorted(folder.rglob("*"))
    assert run(folder, folder / below, "--corruptions", "fog") == 2
    assert "among what they are made of" in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


def test_an_array_and_its_labels_are_not_taken_for_copies_of_themselves(array, tmp_path, capsys):
    assert run(array, tmp_path, "--corruptions", "fog") == 2
    assert "among what they are made of" in capsys.readouterr().err
    labels = tmp_path / "out" / "labels.npy"
    labels.parent.mkdir()
    np.save(labels, np.arange(70) % 10)
    assert run(array, labels.parent, "--corruptions", "fog", "--labels", labels) == 2
    assert "labels are written to" in capsys.readouterr().err
    assert len(np.load(labels)) == 70
