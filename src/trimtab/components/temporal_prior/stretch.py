"""Stretches of a stream whose inputs look alike, and what a model predicts there on average."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from trimtab.components.temporal_prior import balance
from trimtab.core.backbone import Tensors
from trimtab.core.looks import Looks, distance

Numbers = npt.NDArray[Any]

PIECE_SAMPLES = 16
"""Consecutive samples whose looks are compared with their stretch's."""
LOOKS_SAMPLES = 512.0
"""Samples that the looks of a stretch are remembered over."""
KEPT_SAMPLES, KEPT_RUNS = 64.0, 3.0
"""Samples that an old mean counts for in a new stretch where order is plain: there, runs of a
class may be what looks different, and a mean over many runs must not be lost to one of them. As
many runs, where they are longer and what comes looks like another class rather than a domain."""
UNSURE_SAMPLES = 32.0
"""The same where order is not plain and what comes may be another class or another domain: were
nothing kept, long runs of classes that look different would each be a stretch of its own, and none
of them would ever be seen. Its bias has to be told from order then."""
PLAIN_TRUST = 0.5
FAR = 2.0
"""Distance from which on looks are another domain's, and not those of another class."""


class Piece(NamedTuple):
    """Samples of a batch that belong to one piece of the stream."""

    samples: slice
    full: bool
    """Whether the piece ends with them."""
    changed: bool
    """Whether the piece looks different from its stretch, so that a new one begins."""
    far: bool
    """Whether it looks so different that the domain is another one, and not the class alone."""


class Plain(NamedTuple):
    """How plain order was before these samples."""

    trust: float
    """In any explanation by order, 0 to 1."""
    run_samples: float
    """Length of runs, as far as these are what explains it."""


class Means(NamedTuple):
    """Mean predictions of the stretches that samples belong to."""

    values: Numbers
    """(samples, classes)."""
    inherited: npt.NDArray[np.bool_]
    """Whether each remembers another domain, (samples,)."""


@dataclass
class Stretch:
    """Where a stream is: the looks of its stretch and of the piece under way, and their means."""

    mean: Numbers
    """Mean prediction of the stretch, (classes,)."""
    counted: float
    """Samples that it counts for."""
    class_samples: Numbers
    """Samples of each class among them, (classes,)."""
    inherited: bool
    """Whether it remembers another domain, where bias may have been another one."""
    looks: Looks
    piece: Looks
    piece_sum: Numbers
    """Sum of the predictions of the piece under way, (classes,)."""

    @classmethod
    def read(cls, memory: Tensors) -> "Stretch":
        """The stretch that a memory holds."""
        arrays = {name: tensor.cpu().numpy() for name, tensor in memory.items()}
        looks = Looks(float(arrays["looks_counted"]), *arrays["looks"].copy())
        piece = Looks(float(arrays["piece_counted"]), *arrays["piece_looks"].copy())
        counted, inherited = float(arrays["counted"]), bool(arrays["inherited"])
        mean, classes, piece_sum = (
            arrays[name].copy() for name in ("mean", "class_samples", "piece_sum")
        )
        return cls(mean, counted, classes, inherited, looks, piece, piece_sum)

    def write(self, memory: Tensors) -> None:
        """Put the stretch back into its memory."""
        for name, looks in (("looks", self.looks), ("piece", self.piece)):
            memory[f"{name}_counted"].fill_(looks.samples)
            both = torch.from_numpy(np.stack([looks.mean, looks.variance]))
            memory["looks" if name == "looks" else "piece_looks"].copy_(both)
        memory["counted"].fill_(self.counted)
        memory["inherited"].fill_(self.inherited)
        memory["mean"].copy_(torch.from_numpy(self.mean))
        memory["class_samples"].copy_(torch.from_numpy(self.class_samples))
        memory["piece_sum"].copy_(torch.from_numpy(self.piece_sum))

    def pieces(self, looks: Numbers) -> list[Piece]:
        """The pieces of samples that look like this, in their order, (samples, NUM_LOOKS)."""
        found = []
        first = 0
        while first < len(looks):
            samples = slice(first, first + PIECE_SAMPLES - int(self.piece.samples))
            self.piece = self.piece.with_more(Looks.of(looks[samples]))
            full = self.piece.samples >= PIECE_SAMPLES
            known = full and self.looks.samples > 0
            apart = distance(self.looks, self.piece) if known else 0.0
            changed = apart > 1
            if full:
                kept = Looks.none() if changed else self.looks
                self.looks = kept.with_more(self.piece, at_most=LOOKS_SAMPLES)
                self.piece = Looks.none()
            found.append(Piece(samples, full, changed, apart > FAR))
            first = samples.stop
        return found

    def means(
        self,
        probs: Numbers,
        pieces: list[Piece],
        order: Plain,
        horizon: float,
        shown: Numbers | None = None,
    ) -> Means:
        """The mean prediction of the stretch that each sample belongs to.

        It includes the samples themselves, and all others of their stretch in the batch. Where
        their classes are known to some degree, ``shown`` (samples, classes), it is balanced over
        classes; otherwise each sample counts for one.
        """
        means = Means(np.empty_like(probs), np.empty(len(probs), bool))
        begin = 0
        for number, piece in enumerate(pieces):
            if piece.changed:
                self._count(probs, slice(begin, piece.samples.start), means, horizon, shown)
                begin = piece.samples.start
                self.begin(order, piece.far)
                if number == 0:  # the piece began in an earlier batch
                    before = PIECE_SAMPLES - len(probs[piece.samples])
                    self._add(self.piece_sum, self.piece_sum, before, horizon)
            self.piece_sum = self.piece_sum + probs[piece.samples].sum(0)
            if piece.full:
                self.piece_sum = np.zeros_like(self.piece_sum)
        self._count(probs, slice(begin, None), means, horizon, shown)
        return means

    def begin(self, order: Plain, far: bool) -> None:
        """Begin a stretch; the mean before it is kept for a while, unless all may be different."""
        if order.trust >= PLAIN_TRUST:
            runs = 0.0 if far else KEPT_RUNS * order.run_samples
            self.forget(max(KEPT_SAMPLES, runs), far)
        else:
            self.forget(0.0 if far else UNSURE_SAMPLES, True)

    def drop_piece(self) -> None:
        """Begin the piece under way anew."""
        self.piece, self.piece_sum = Looks.none(), np.zeros_like(self.piece_sum)

    def forget(self, kept: float, far: bool) -> None:
        """Let the mean count for ``kept`` samples at most, so that it follows what comes.

        ``far`` says whether what comes may have another bias.
        """
        if self.counted > kept:
            self.class_samples = self.class_samples * (kept / self.counted)
            self.counted = kept
        self.inherited = far and self.counted > 0

    def _count(
        self, probs: Numbers, samples: slice, means: Means, horizon: float, shown: Numbers | None
    ) -> None:
        some = probs[samples]
        if shown is None:
            self._add(some.sum(0), some.sum(0), len(some), horizon)
        else:
            classes = shown[samples]
            for first in range(0, len(some), PIECE_SAMPLES):
                few = classes[first : first + PIECE_SAMPLES]
                weights = few @ balance.weights(self.class_samples)
                total = weights @ some[first : first + PIECE_SAMPLES]
                self._add(total, weights @ few, float(weights.sum()), horizon)
        means.values[samples], means.inherited[samples] = self.mean, self.inherited

    def _add(self, total: Numbers, classes: Numbers, samples: float, horizon: float) -> None:
        """Count ``samples`` more, with these sums of their predictions and of their classes."""
        if samples <= 0:
            return
        kept = (1 - 1 / horizon) ** samples
        before = self.counted * kept
        self.mean = ((before * self.mean + total) / (before + samples)).astype(self.mean.dtype)
        self.class_samples = (kept * self.class_samples + classes).astype(self.mean.dtype)
        self.counted = min(before + samples, horizon)
