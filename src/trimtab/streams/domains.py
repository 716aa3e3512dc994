"""The domains of a stream: what each one's images and labels are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

import torch
from torch import Tensor

from trimtab.core.spec import choice
from trimtab.streams.corruptions import BENCHMARK, Corruptor
from trimtab.streams.data import Indices, LabelledImages

CLEAN = "clean"
"""The domain of images as they are."""


class Domains(Protocol):
    """Named domains, each with its own images, the same number at every severity."""

    @property
    def names(self) -> tuple[str, ...]:
        """The domains in their usual order, without ``CLEAN``."""

    @property
    def class_indices(self) -> tuple[int, ...] | None:
        """Which of a model's outputs the classes are; None: the same."""

    def labels(self, domain: str) -> Indices:
        """The classes of the domain's images."""

    def pixels(self, domain: str, severity: int, indices: Indices, seed: int) -> Tensor:
        """uint8 images, images x height x width x 3."""


@dataclass(frozen=True, eq=False)
class Corrupted:
    """Clean images that become a domain when they are asked for, by a corruption of its name."""

    clean: LabelledImages
    names: tuple[str, ...] = BENCHMARK
    corruptor: Corruptor = field(default_factory=Corruptor)

    @property
    def class_indices(self) -> tuple[int, ...] | None:
        return self.clean.class_indices

    def labels(self, domain: str) -> Indices:
        choice("domain", domain, (*self.names, CLEAN))
        return self.clean.labels

    def truth(self, domain: str, indices: Indices) -> Indices:
        """What predictions are scored by: classes of images, or of their pixels."""
        choice("domain", domain, (*self.names, CLEAN))
        return self.clean.truth(indices)

    def pixels(self, domain: str, severity: int, indices: Indices, seed: int) -> Tensor:
        images = torch.from_numpy(self.clean.pixels(indices))
        return self.corrupt(images, domain, severity, indices, seed)

    def corrupt(
        self, images: Tensor, domain: str, severity: int, indices: Indices, seed: int
    ) -> Tensor:
        """``images``, which have the numbers ``indices``, as ``domain`` shows them."""
        if domain == CLEAN or severity == 0:
            return images
        return self.corruptor(images, domain, severity, seed=seed, indices=indices)


@dataclass(frozen=True, eq=False)
class Stored:
    """Domains that are read from files.

    ``read(domain, severity)`` opens one of them; a domain without severities ignores it.
    """

    names: tuple[str, ...]
    read: Callable[[str, int], LabelledImages]
    clean: LabelledImages | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "read", lru_cache(maxsize=None)(self.read))

    @property
    def class_indices(self) -> tuple[int, ...] | None:
        return self.read(self.names[0], 5).class_indices

    def labels(self, domain: str) -> Indices:
        return self._open(domain, 5).labels

    def truth(self, domain: str, indices: Indices) -> Indices:
        """What predictions are scored by: classes of images, or of their pixels."""
        return self._open(domain, 5).truth(indices)

    def pixels(self, domain: str, severity: int, indices: Indices, seed: int) -> Tensor:
        return torch.from_numpy(self._open(domain, severity).pixels(indices))

    def _open(self, domain: str, severity: int) -> LabelledImages:
        if domain == CLEAN:
            if self.clean is None:
                raise ValueError("this stream also shows clean images, give them as clean=...")
            return self.clean
        return self.read(choice("domain", domain, self.names), severity)


def separate(domains: Mapping[str, LabelledImages]) -> Stored:
    """Domains that have their own images and no severities."""
    return Stored(tuple(domains), lambda domain, severity: domains[domain])
