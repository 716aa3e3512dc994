"""A stream: batches that are made when they are asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trimtab.streams.batch import Batch
from trimtab.streams.data import Indices
from trimtab.streams.domains import Corrupted, Domains, Stored
from trimtab.streams.plan import Stretch


@dataclass(frozen=True, eq=False)
class Stream:
    """An iterable of ``Batch``; iterating again shows the same batches again."""

    domains: Domains
    domain_names: tuple[str, ...]
    stretches: tuple[Stretch, ...]
    batch_size: int
    seed: int
    resets: bool = False

    def __post_init__(self) -> None:
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, got {self.batch_size}")

    def __len__(self) -> int:
        return sum(-(-len(stretch) // self.batch_size) for stretch in self.stretches)

    @property
    def num_images(self) -> int:
        """How many images the stream shows in all."""
        return sum(len(stretch) for stretch in self.stretches)

    @property
    def class_indices(self) -> tuple[int, ...] | None:
        """Which of a model's outputs the classes are; None: the same."""
        return self.domains.class_indices

    def __iter__(self) -> Iterator[Batch]:
        for visit, stretch in enumerate(self.stretches):
            for start in range(0, len(stretch), self.batch_size):
                rows = stretch.part(slice(start, start + self.batch_size))
                yield self._batch(rows, visit, stretch.starts_domain and start == 0)

    def _batch(self, rows: Stretch, visit: int, starts_domain: bool) -> Batch:
        pixels, labels = self._pixels_and_labels(rows)
        inputs = pixels.permute(0, 3, 1, 2).to(torch.float32, memory_format=torch.contiguous_format)
        return Batch(
            inputs=inputs.div_(255),
            labels=torch.from_numpy(labels),
            domain=torch.from_numpy(rows.domain.copy()),
            severity=torch.from_numpy(rows.severity.copy()),
            index=torch.from_numpy(rows.image.copy()),
            visit=visit,
            starts_domain=starts_domain,
            reset=self.resets and starts_domain,
        )

    def _pixels_and_labels(self, rows: Stretch) -> tuple[Tensor, Indices]:
        pixels: Tensor | None = None
        labels = np.empty(0, dtype=np.int64)
        kinds = np.stack([rows.domain, rows.severity, rows.second_domain, rows.second_severity])
        for kind in np.unique(kinds, axis=1).T:
            chosen = np.flatnonzero((kinds == kind[:, None]).all(axis=0))
            part = self._one_kind(kind, rows.image[chosen])
            if pixels is None:
                pixels = part.new_empty(len(rows), *part.shape[1:])
            pixels[torch.from_numpy(chosen)] = part
            truth = self._truth(self.domain_names[kind[0]], rows.image[chosen])
            labels = labels if len(labels) else np.empty((len(rows), *truth.shape[1:]), np.int64)
            labels[chosen] = truth
        assert pixels is not None  # a batch is never empty
        return pixels, labels

    def _truth(self, domain: str, image: Indices) -> Indices:
        if isinstance(self.domains, (Corrupted, Stored)):
            return self.domains.truth(domain, image)
        return self.domains.labels(domain)[image]

    def _one_kind(self, kind: Indices, image: Indices) -> Tensor:
        """Pixels of images that share domain, severity, second domain and second severity."""
        domain, severity, second, second_severity = kind.tolist()
        pixels = self.domains.pixels(self.domain_names[domain], severity, image, self.seed)
        if second_severity and isinstance(self.domains, Corrupted):
            name = self.domain_names[second]
            pixels = self.domains.corrupt(pixels, name, second_severity, image, self.seed)
        return pixels
