"""Adaptation frequency: learn on every k-th batch, within a budget of passes, or where it pays."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from trimtab.core.counters import Counters
from trimtab.core.ranges import check_value, check_whole
from trimtab.core.stride import Stride, variety_of

Budget = float | Literal["auto"] | None


@dataclass
class Pace:
    """Decides from counts alone, never from a clock, so that a stream can be repeated.

    A sample's pass forward costs 1, its pass backward 2. What a batch costs to learn from is
    known once one was learned from; from then on a batch is learned from when the passes saved
    so far pay for the dearest update yet. So the whole stream stays within its budget, but for
    the first update, which is made on credit.

    Args:
        adapt_every: Batches from one update to the next, beginning with the first batch.
        budget: Most passes a sample, on average; a plain forward is 1. None has no limit;
            ``"auto"`` learns where inputs are new or updates still change predictions.
        batches: How many were there to learn from.
        samples: How many came.
        passes: What they cost so far.
        price: What learning added at most, in passes a sample.
        stride: How often to learn where the budget is ``"auto"``; None elsewhere.
    """

    adapt_every: int = 1
    budget: Budget = None
    batches: int = 0
    samples: int = 0
    passes: int = 0
    price: float = 0.0
    stride: Stride | None = None

    def __post_init__(self) -> None:
        every = 0 if self.adapt_every is None else self.adapt_every
        check_whole("adapt_every", every, "batch")
        if self.budget == "auto":
            self.stride = self.stride or Stride()
            return
        word = isinstance(self.budget, str)
        expected = 'be "auto" or a number' if word else "be at least 1 plain forward"
        check_value("budget", self.budget, lambda value: value >= 1, expected)

    def afresh(self) -> "Pace":
        """The same pace for a stream that has seen nothing."""
        return Pace(self.adapt_every, self.budget)

    def turn(self, samples: int) -> bool:
        """Whether to learn from ``samples`` samples, which are there to learn from now."""
        self.batches += 1
        if (self.batches - 1) % self.adapt_every:
            return False
        if self.stride is not None:
            self.stride = self.stride.after_batch()
            return self.stride.is_over(self.passes / max(self.samples, 1))
        if not isinstance(self.budget, (int, float)):
            return True
        saved = self.budget * self.samples - self.passes
        return saved > 0 and saved >= self.price * samples

    def moves(self, logits: Tensor) -> int:
        """How many moves an update makes along its gradient, by what its samples are taken for."""
        return 1 if self.stride is None else self.stride.moves(variety_of(logits))

    def see(self, inputs: Tensor) -> None:
        """Look at samples that are about to be predicted."""
        if self.stride is not None:
            self.stride = self.stride.seeing(inputs)

    def judge(self, change: float | None) -> None:
        """Take note of an update that has changed predictions by so much; None: not at all."""
        if self.stride is not None:
            self.stride = self.stride.after_update(change)

    def arrive(self, samples: int) -> None:
        """Take note of samples that are about to be predicted, by a pass each."""
        self.samples += samples
        self.passes += samples

    def pay(self, passes: int, learned_from: int) -> None:
        """Take note of passes beyond those, and from how many samples they have learned."""
        self.passes += passes
        if learned_from:
            self.price = max(self.price, passes / learned_from)

    def state(self) -> dict[str, float]:
        """All that decides the next turns."""
        return {
            "batches": self.batches,
            "samples": self.samples,
            "passes": self.passes,
            "price": self.price,
            **({} if self.stride is None else self.stride.state()),
        }

    def load(self, state: dict[str, float]) -> None:
        """Become what ``state`` says."""
        self.batches, self.samples = int(state["batches"]), int(state["samples"])
        self.passes, self.price = int(state["passes"]), float(state["price"])
        if self.stride is not None:
            self.stride = Stride.of(state)


def passes(counters: Counters) -> int:
    """Work in forward passes of a sample; a pass backward counts as two."""
    return counters.forward_samples + 2 * counters.backward_samples
