"""What the table says about a network: what it is, what it eats, where its weights come from."""

from collections.abc import Callable
from dataclasses import dataclass, field

from torch import nn

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Preprocessing:
    """From an image file to the network.

    The shorter side is resized to ``resize`` px with ``interpolation`` and ``input_size`` px are
    cut from the centre, both by whoever reads the images. Then the pixels lie in [0, 1], and the
    network itself subtracts ``mean`` and divides by ``std``, where it has them.
    """

    input_size: int | None
    mean: Triple | None = None
    std: Triple | None = None
    resize: int | None = None
    interpolation: str = "bilinear"

    def __str__(self) -> str:
        parts = [] if self.resize is None else [f"resize {self.resize} {self.interpolation}, crop"]
        if self.mean is None or self.std is None:
            return " ".join([*parts, "no normalisation"])
        mean, std = (" ".join(f"{value:g}" for value in values) for values in (self.mean, self.std))
        return " ".join([*parts, f"mean {mean}, std {std}"])


@dataclass(frozen=True)
class ModelEntry:
    """One row of the table.

    ``make`` builds the bare architecture, without normalisation, for a number of classes.
    ``clean_accuracy`` is in percent on the test images of ``dataset``, ``sha256`` the hash of the
    weight file or how it begins. ``shipped`` says that the file is part of this package.
    ``renames`` are (pattern, replacement) pairs that turn other public spellings of the state
    dict's names into ours, and names that begin with one of ``left_out`` are not used.
    ``brings_weights`` says that ``make`` returns a network whose weights are in it already.
    ``task`` is ``"segmentation"`` where the network has logits for each pixel, and accuracy then is
    the share of pixels.
    ``only_for`` says what alone the network is there for, where it belongs in no results table.
    """

    name: str
    make: Callable[[int], nn.Module] = field(repr=False)
    architecture: str
    norm_layers: str
    preprocessing: Preprocessing
    dataset: str
    num_classes: int
    clean_accuracy: float | None
    origin: str
    sha256: str | None = None
    shipped: bool = False
    url: str | None = None
    renames: tuple[tuple[str, str], ...] = ()
    left_out: tuple[str, ...] = ()
    brings_weights: bool = False
    only_for: str | None = None
    task: str | None = None

    @property
    def is_users_own(self) -> bool:
        """Whether the weights are a file of the user's, of which nothing is known beforehand."""
        return self.url is None and not self.shipped and self.sha256 is None

    @property
    def fingerprint(self) -> str | None:
        """How runs name these weights: the beginning of their hash."""
        return None if self.sha256 is None else self.sha256[:16]
