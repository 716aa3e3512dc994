"""The images that come with the package: 4,000 test images of Fashion-MNIST (MIT licence).

Fashion-MNIST (Xiao et al., arXiv:1708.07747) is grey at 28 px. The 400 first test images of each
class are stored as they are, in the official order, and given a black border of 2 px and three
equal channels when they are read.
"""

import gzip
import hashlib
import io
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import save

from trimtab.core.files import write_whole
from trimtab.streams.cifar10 import cache_directory
from trimtab.streams.data import LabelledImages

Pixels = npt.NDArray[np.uint8]
Labels = npt.NDArray[np.int64]

CLASSES = (
    "T-shirt",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)

PER_CLASS = 400
FOR_TESTS = 300
"""Of each class; the rest can serve as source data."""
PACKED = "embedded.npz"
BORDER = 2
DEBIAN = Path("/usr/share/datasets/fashion-mnist")

OFFICIAL = {
    "train_images": (
        "train-images-idx3-ubyte.gz",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    ),
    "train_labels": (
        "train-labels-idx1-ubyte.gz",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    ),
    "test_images": (
        "t10k-images-idx3-ubyte.gz",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    ),
    "test_labels": (
        "t10k-labels-idx1-ubyte.gz",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}
"""The official files and the SHA-256 of their uncompressed content, by what they hold."""


def embedded_images() -> tuple[Pixels, Labels]:
    """Images (4000, 32, 32, 3) and their labels (4000,)."""
    packed = (resources.files("trimtab.streams") / PACKED).read_bytes()
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        return as_rgb(arrays["images"]), arrays["labels"].astype(np.int64)


def load(part: str = "test") -> LabelledImages:
    """Fashion-MNIST: 3,000 test images that come with the package.

    Part ``"source"`` are 1,000 others, for methods that ask for source data.
    """
    if part not in ("test", "source"):
        raise ValueError(f"part must be 'test' or 'source', got {part!r}")
    images, labels = embedded_images()
    rank = np.empty(len(labels), dtype=np.int64)  # an image's number within its class
    for kind in range(len(CLASSES)):
        rank[labels == kind] = np.arange(PER_CLASS)
    chosen = np.flatnonzero((rank < FOR_TESTS) == (part == "test"))
    return LabelledImages(images[chosen], labels[chosen], "fashion_mnist", CLASSES)


def as_rgb(grey: Pixels) -> Pixels:
    """Grey images (count, 28, 28) with a black border and three channels: (count, 32, 32, 3)."""
    bordered = np.pad(grey, ((0, 0), (BORDER, BORDER), (BORDER, BORDER)))
    return np.repeat(bordered[..., None], 3, axis=-1)


def read_official(directory: Path) -> dict[str, Pixels]:
    """All 70,000 images, grey at 28 px, and their labels, from the official four files.

    Debian's package ``dataset-fashion-mnist`` puts them into ``DEBIAN``.
    """
    return {what: _read_idx(directory / name, sha) for what, (name, sha) in OFFICIAL.items()}


def prepare_all(directory: Path, advance: Callable[[str], None] = lambda _what: None) -> Path:
    """Write all 70,000 images as 32 px RGB into the cache, as training reads them; the file."""
    advance("reading")
    arrays = read_official(directory)
    arrays = {name: as_rgb(array) if array.ndim == 3 else array for name, array in arrays.items()}
    target = cache_directory() / "fashion_mnist.safetensors"
    target.parent.mkdir(parents=True, exist_ok=True)
    advance("writing")
    write_whole(target, save(arrays))
    return target


def pack(directory: Path, target: Path) -> None:
    """Write the file that is shipped, from the official files."""
    official = read_official(directory)
    labels = official["test_labels"]
    chosen = np.sort(
        np.concatenate([np.flatnonzero(labels == kind)[:PER_CLASS] for kind in range(10)])
    )
    buffer = io.BytesIO()
    np.savez_compressed(buffer, images=official["test_images"][chosen], labels=labels[chosen])
    write_whole(target, buffer.getvalue())


def _read_idx(path: Path, sha256: str) -> Pixels:
    """The array in an IDX file: a header of the number and sizes of its axes, then bytes."""
    if not path.is_file():
        raise FileNotFoundError(f"expected one of Fashion-MNIST's four files at {path}")
    content = gzip.decompress(path.read_bytes())
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(f"{path} is not the official file: SHA-256 {found}, expected {sha256}")
    axes = content[3]
    shape = np.frombuffer(content, ">i4", count=axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
