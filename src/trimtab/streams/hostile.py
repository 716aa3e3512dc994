"""Streams that harm adaptation: noise, runs of one class, extremes, strangers among the samples.

Each begins with corrupted images (but for runs of one class), has a hard stretch, and ends with
clean images, which show what is left of the network. A label of -1 is scored by nobody.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trimtab.streams.corruptions import BENCHMARK
from trimtab.streams.data import Indices, LabelledImages
from trimtab.streams.domains import CLEAN, Corrupted
from trimtab.streams.draws import generator
from trimtab.streams.order import by_class, order

UNSCORED = -1
HARD = 768
"""Samples of the hard stretch; half as many come before it, and after it."""
PARTS = 12
"""Of a hard stretch that changes on its way."""
VISITS = 20
"""Of each of three domains that come back."""
SEVERITY = 5
RUNS = 0.01
"""Of a Dirichlet distribution: nearly all of a class comes in one stretch."""
FROM_THE_BEGINNING = frozenset({"correlated", "correlated mix"})
"""Streams whose classes come one after the other from their first sample on."""
OUT_OF_RANGE = (20.0, 255.0, -1.0)
"""Factors on frames of a broken sensor."""

Frames = tuple[Tensor, Indices]
"""Inputs (count, 3, height, width) in [0, 1] and labels (count,)."""
Replace = Callable[[Tensor, Indices], Frames]
"""What strangers make of a batch."""


@dataclass(frozen=True)
class Source:
    """Images to make a stream of.

    Args:
        names: Corruptions, in their order.
        hard: Samples of the hard stretch.
    """

    images: LabelledImages
    seed: int
    names: tuple[str, ...] = BENCHMARK
    hard: int = HARD

    @property
    def lead(self) -> int:
        """Samples before the hard stretch, and as many after it."""
        return self.hard // 2

    @property
    def part(self) -> int:
        """Samples of one part of a stretch that changes on its way."""
        return max(1, self.hard // PARTS)

    def draw(self, count: int, purpose: str, label: int | None = None) -> Indices:
        """Numbers of images, of one class or of all, as often as needed."""
        labels = self.images.labels
        known = np.arange(len(labels)) if label is None else np.flatnonzero(labels == label)
        random = generator(self.seed, f"hostile/{purpose}")
        rounds = -(-count // len(known))
        return np.concatenate([random.permutation(known) for _ in range(rounds)])[:count]

    def show(self, image: Indices, domain: str = CLEAN, severity: int = SEVERITY) -> Frames:
        """These images under a corruption."""
        pixels = Corrupted(self.images, self.names).pixels(domain, severity, image, self.seed)
        return _inputs(pixels), self.images.labels[image]

    def pick(self, place: int) -> str:
        """A corruption by its place, counted from one that the seed chooses."""
        return self.names[(place + 5 * self.seed) % len(self.names)]


def _inputs(pixels: Tensor) -> Tensor:
    return pixels.permute(0, 3, 1, 2).float() / 255


def _joined(parts: list[Frames]) -> Frames:
    return torch.cat([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _unscored(inputs: Tensor) -> Frames:
    return inputs, np.full(len(inputs), UNSCORED)


# -------------------------------------------------------------------- hard stretches


def _noise(source: Source) -> Frames:
    """Uniform noise."""
    shape = source.show(source.draw(1, "shape"))[0].shape[1:]
    random = torch.Generator().manual_seed(source.seed)
    return _unscored(torch.rand(source.hard, *shape, generator=random))


def _constant(source: Source) -> Frames:
    """Grey frames, as from a covered lens."""
    shape = source.show(source.draw(1, "shape"))[0].shape[1:]
    return _unscored(torch.full((source.hard, *shape), 0.5))


def _one_class(source: Source) -> Frames:
    """Clean images of one class."""
    return source.show(source.draw(source.hard, "one", source.seed % 10))


def _extremes(source: Source) -> Frames:
    """The hardest noise and a bright, flat light, batch after batch."""
    parts = [
        source.show(source.draw(source.part, f"extreme {n}"), ("impulse_noise", "contrast")[n % 2])
        for n in range(PARTS)
    ]
    return _joined(parts)


def _recurring(source: Source) -> Frames:
    """Three domains that come back twenty times, each time for a part."""
    parts = [
        source.show(source.draw(source.part, f"visit {n}"), source.pick(n % 3))
        for n in range(3 * VISITS)
    ]
    return _joined(parts)


def _drifting(source: Source) -> Frames:
    """One corruption fades out while another one rises above it, as in CCC."""
    parts = []
    domains = Corrupted(source.images, source.names)
    for n in range(PARTS):
        place, phase = divmod(n, 4)
        image = source.draw(source.part, f"drift {n}")
        pixels = domains.pixels(source.pick(place), SEVERITY - phase, image, source.seed)
        second = source.pick(place + 1)
        if phase:
            pixels = domains.corrupt(pixels, second, phase + 1, image, source.seed)
        parts.append((_inputs(pixels), source.images.labels[image]))
    return _joined(parts)


def _late_label_shift(source: Source) -> Frames:
    """After independent samples, class after class."""
    image = source.draw(source.hard, "late")
    ordered = by_class(source.images.labels, image)
    return source.show(ordered, source.pick(1))


def _out_of_range(source: Source) -> Frames:
    """Every fourth frame as from a broken sensor."""
    inputs, labels = source.show(source.draw(source.hard, "range"), source.pick(1))
    labels = labels.copy()
    for n, row in enumerate(range(0, source.hard, 4)):
        inputs[row] *= OUT_OF_RANGE[n % len(OUT_OF_RANGE)]
        labels[row] = UNSCORED
    return inputs, labels


def _stuck_camera(source: Source) -> Frames:
    """One frame, again and again."""
    inputs, labels = source.show(source.draw(1, "stuck"), source.pick(1))
    return inputs.repeat(source.hard, 1, 1, 1), labels.repeat(source.hard)


def _benign(source: Source) -> Frames:
    """Three more domains, one after the other: nothing that harms."""
    parts = [
        source.show(source.draw(source.hard // 3, f"more {n}"), source.pick(n + 2))
        for n in range(3)
    ]
    return _joined(parts)


def _mixed(source: Source) -> Frames:
    """All domains at once."""
    parts = [
        source.show(source.draw(max(1, source.hard // 15), f"mixed {name}"), name)
        for name in source.names
    ]
    inputs, labels = _joined(parts)
    order = generator(source.seed, "hostile/mixed").permutation(len(labels))
    return inputs[torch.from_numpy(order)], labels[order]


def _correlated(source: Source) -> Frames:
    """Three more domains, one after the other, and in each class after class."""
    image = [source.draw(source.hard // 3, f"more {n}") for n in range(3)]
    labels = source.images.labels
    parts = [source.show(by_class(labels, image[n]), source.pick(n + 2)) for n in range(3)]
    return _joined(parts)


def _correlated_mix(source: Source) -> Frames:
    """All domains at once, and classes in runs (Dirichlet, 0.01)."""
    inputs, labels = _mixed(source)
    place = order(labels, RUNS, source.seed, "hostile/runs")
    return inputs[torch.from_numpy(place)], labels[place]


STREAMS: dict[str, Callable[[Source], Frames]] = {
    "benign": _benign,
    "mixed": _mixed,
    "noise": _noise,
    "constant": _constant,
    "one class": _one_class,
    "extremes": _extremes,
    "recurring": _recurring,
    "drifting": _drifting,
    "late label shift": _late_label_shift,
    "correlated": _correlated,
    "correlated mix": _correlated_mix,
    "out of range": _out_of_range,
    "stuck camera": _stuck_camera,
    "attacked": _benign,
    "flooded": _benign,
    "blended": _benign,
}
"""By name, what makes the hard stretch. The last three are honest until strangers join."""


def batches(
    name: str, source: Source, batch_size: int, strangers: Replace | None = None
) -> Iterator[Frames]:
    """The whole stream in batches; strangers take part in the hard stretch."""
    first = source.draw(source.lead, "lead")
    if name in FROM_THE_BEGINNING:
        first = by_class(source.images.labels, first)
    lead = source.show(first, CLEAN if name == "one class" else source.pick(0))
    hard = STREAMS[name](source)
    after = source.show(source.draw(source.lead, "after"))
    for stretch, frames in enumerate((lead, hard, after)):
        for start in range(0, len(frames[1]), batch_size):
            inputs = frames[0][start : start + batch_size]
            labels = frames[1][start : start + batch_size]
            if strangers is not None and stretch == 1:
                inputs, labels = strangers(inputs, labels)
            yield inputs, labels
