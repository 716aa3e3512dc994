"""What a stream is going to show, image by image, before any image is touched."""

from dataclasses import dataclass

import numpy as np

from trimtab.streams.data import Indices


@dataclass(frozen=True)
class Visit:
    """A stretch of the stream in one domain at one severity."""

    domain: str
    severity: int
    starts_domain: bool = True


@dataclass(frozen=True, eq=False)
class Stretch:
    """Images that are cut into batches together: one int64 of each per image.

    ``image`` is the number in the domain's dataset, ``domain`` a place in the domain names. An
    image under two corruptions has a ``second_domain`` at a ``second_severity`` above 0.
    """

    image: Indices
    domain: Indices
    severity: Indices
    second_domain: Indices
    second_severity: Indices
    starts_domain: bool = True

    def __len__(self) -> int:
        return len(self.image)

    def part(self, rows: slice | Indices) -> "Stretch":
        """The chosen rows."""
        return Stretch(
            self.image[rows],
            self.domain[rows],
            self.severity[rows],
            self.second_domain[rows],
            self.second_severity[rows],
            self.starts_domain,
        )


def plain_stretch(image: Indices, domain: int, severity: int, starts_domain: bool) -> Stretch:
    """Images of one domain."""
    zeros = np.zeros_like(image)
    return Stretch(image, zeros + domain, zeros + severity, zeros, zeros, starts_domain)


def join(stretches: list[Stretch]) -> Stretch:
    """All images of the stretches in one, in the same order."""
    return Stretch(
        np.concatenate([stretch.image for stretch in stretches]),
        np.concatenate([stretch.domain for stretch in stretches]),
        np.concatenate([stretch.severity for stretch in stretches]),
        np.concatenate([stretch.second_domain for stretch in stretches]),
        np.concatenate([stretch.second_severity for stretch in stretches]),
    )
