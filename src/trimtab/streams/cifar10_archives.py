"""The forms in which CIFAR-10 is handed around, each read into the same four arrays."""

import importlib
import io
import json
import pickle
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
BATCHES = ("data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5")
LABEL_FILES = ("train_lables.json", "test_lables.json")


class Batch(NamedTuple):
    """Images (count, 32, 32, 3); labels (count,), where the file has them."""

    images: Pixels
    labels: Pixels | None


def read_archive(path: Path, advance: Callable[[str], None]) -> dict[str, Pixels]:
    """The four arrays in an archive, or in the directory of an unpacked one."""
    files = _files(path)
    suffix = next((end for end in READERS if f"test_batch{end}" in files), None)
    if suffix is None:
        raise ValueError(
            f"{path} holds no CIFAR-10: looked for "
            + ", ".join(f"test_batch{end}" for end in READERS)
        )
    batches = []
    for name in (*BATCHES, "test_batch"):
        advance(name)
        if name + suffix not in files:
            raise ValueError(f"{path} is not complete: it has no {name}{suffix}")
        batches.append(_read_batch(files[name + suffix], suffix, f"{name}{suffix} in {path}"))
    train, test = batches[:-1], batches[-1]
    labels = [batch.labels for batch in train]
    return {
        "train_images": np.concatenate([batch.images for batch in train]),
        "train_labels": _labels(labels, files, LABEL_FILES[0], path),
        "test_images": test.images,
        "test_labels": _labels([test.labels], files, LABEL_FILES[1], path),
    }


def _files(path: Path) -> dict[str, bytes]:
    """Contents of the files that may belong to CIFAR-10, by their bare name."""
    wanted = {f"{name}{end}" for name in (*BATCHES, "test_batch") for end in READERS}
    wanted |= set(LABEL_FILES)
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.rglob("*") if file.name in wanted}
    if not path.is_file():
        raise FileNotFoundError(f"expected an archive or a directory of CIFAR-10 at {path}")
    try:
        with tarfile.open(path) as archive:
            members = [m for m in archive if m.isfile() and Path(m.name).name in wanted]
            return {Path(m.name).name: _content(archive, m) for m in members}
    except (tarfile.TarError, EOFError, OSError) as error:
        raise ValueError(f"{path} is not a whole tar archive ({error})") from error


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member)
    return b"" if file is None else file.read()


def _read_batch(content: bytes, suffix: str, what: str) -> Batch:
    try:
        return READERS[suffix](content)
    except ImportError:
        raise
    except Exception as error:  # whatever a damaged file leads to
        raise ValueError(f"{what} cannot be read: {error}") from error


def _labels(
    found: list[Pixels | None], files: dict[str, bytes], name: str, path: Path
) -> npt.NDArray[np.uint8]:
    arrays = [labels for labels in found if labels is not None]
    if arrays:
        return np.concatenate(arrays)
    if name not in files:
        raise ValueError(f"{path} is not complete: it has no {name}")
    return np.array(json.loads(files[name]), dtype=np.uint8)


def _planes(rows: Pixels) -> Pixels:
    """Rows of 3072 bytes, colour planes one after the other, as images."""
    return np.ascontiguousarray(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))


class _ArraysOnly(pickle.Unpickler):
    """Builds numpy arrays and plain values; a file that names anything else is refused."""

    def find_class(self, module: str, name: str) -> Any:
        allowed = {"ndarray": np.ndarray, "dtype": np.dtype, "_reconstruct": _empty_array}
        if module.split(".")[0] == "numpy" and name in allowed:
            return allowed[name]
        if (module, name) == ("_codecs", "encode"):  # how Python 3 writes bytes for Python 2
            return _encode
        raise pickle.UnpicklingError(f"the file names {module}.{name}, which no CIFAR-10 file does")


def _empty_array(*_: Any) -> npt.NDArray[np.int8]:
    return np.ndarray((0,), dtype=np.int8)


def _encode(text: str, _encoding: str) -> bytes:
    return text.encode("latin1")


def _read_python(content: bytes) -> Batch:
    batch = _ArraysOnly(io.BytesIO(content), encoding="bytes").load()
    return Batch(_planes(batch[b"data"]), np.array(batch[b"labels"], dtype=np.uint8))


def _read_binary(content: bytes) -> Batch:
    rows = np.frombuffer(content, np.uint8).reshape(-1, 3073)
    return Batch(_planes(rows[:, 1:]), rows[:, 0].copy())


def _read_matlab(content: bytes) -> Batch:
    try:
        matlab = importlib.import_module("scipy.io")
    except ImportError:
        raise ImportError("reading MATLAB files needs SciPy: pip install scipy") from None
    batch = matlab.loadmat(io.BytesIO(content))
    return Batch(_planes(batch["data"]), batch["labels"].reshape(-1).astype(np.uint8))


def _read_sheet(content: bytes) -> Batch:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError(
            "reading the npm package's sheets needs Pillow: pip install 'trimtab[images]'"
        ) from None
    with Image.open(io.BytesIO(content)) as sheet:
        return Batch(np.asarray(sheet.convert("RGB")).reshape(-1, 32, 32, 3), None)


READERS: dict[str, Callable[[bytes], Batch]] = {
    "": _read_python,
    ".bin": _read_binary,
    ".mat": _read_matlab,
    ".png": _read_sheet,
}
"""How to read a batch, by what its file's name ends with; a sheet has one image a row."""
