"""Adaptive update frequency: learn at once where inputs are new, rarely where little changes.

As with the adaptive step size of a numerical integrator, the next step is as long as predictions
allow: an update stands for the batches since the last one (its gradient is moved along that many
times, fewer where its batch shows few classes), and the stride to the next one grows while updates
hardly change predictions.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from trimtab.core.novelty import Novelty
from trimtab.core.shares import class_shares, effective_classes

LONGEST = 6
"""Most batches from one update to the next, and most moves along one gradient."""
ENOUGH = 1.58
"""Passes a sample beyond which updates that nothing calls for, at the end of a longest stride, wait
until the mean of the stream is below it again, up to twice as long."""
TOLERATED = 0.05
"""Share of the predicted probability that an update may move, in the mean over samples."""
ALL_SHOWN = 0.8
"""Variety of a batch whose samples are independent: by chance, it lacks some class."""
SHORTER, LONGER = 0.5, 4.0
"""Least and most factor from one stride to the next."""


@dataclass(frozen=True)
class Stride:
    """How often a stream learns; never written into.

    Args:
        batches: From one update to the next.
        waited: Batches since the last update.
        novelty: What inputs look like; the stride begins anew where that changes.
    """

    batches: int = 1
    waited: int = 0
    novelty: Novelty = field(default_factory=Novelty)

    def is_over(self, passes: float) -> bool:
        """Whether it is time for an update.

        Args:
            passes: What samples have cost so far, in the mean.
        """
        if self.batches == LONGEST and passes > ENOUGH:
            return self.waited >= 2 * LONGEST
        return self.waited >= self.batches

    def moves(self, variety: float) -> int:
        """How many batches an update stands for that is made now.

        Args:
            variety: Share of the classes that its own batch shows. One of a single class does not
                stand for others.
        """
        return max(1, round(min(self.waited, LONGEST) * min(1.0, variety / ALL_SHOWN)))

    def after_batch(self) -> "Stride":
        """Once another batch is there to learn from."""
        return replace(self, waited=self.waited + 1)

    def after_update(self, change: float | None) -> "Stride":
        """Once an update has moved predictions by ``change``; None where it has moved nothing."""
        if change is None:
            return replace(self, waited=0)
        factor = min(max(TOLERATED / max(change, 1e-9), SHORTER), LONGER)
        batches = min(max(round(self.batches * factor), 1), LONGEST)
        return replace(self, batches=batches, waited=0)

    def seeing(self, inputs: Tensor) -> "Stride":
        """Once a batch is looked at: where it is unlike those before it, learn from it."""
        novelty, new = self.novelty.seeing(inputs)
        return replace(self, novelty=novelty, batches=1 if new else self.batches)

    def state(self) -> dict[str, float]:
        """All of it, by name."""
        own = {"stride_batches": self.batches, "stride_waited": self.waited}
        return {**own, **self.novelty.state()}

    @classmethod
    def of(cls, state: Mapping[str, float]) -> "Stride":
        """What ``state`` has written."""
        counts = int(state["stride_batches"]), int(state["stride_waited"])
        return cls(*counts, Novelty.of(state))


def variety_of(logits: Tensor) -> float:
    """Share of the classes that predictions show, of those that so many could show, in (0, 1]."""
    said, classes = logits.argmax(1).flatten().cpu(), logits.shape[1]
    return effective_classes(class_shares(said, classes)) / min(classes, len(said))


@torch.no_grad()
def change_between(before: Tensor, after: Tensor) -> float:
    """Share of probability that differs between two predictions, in the mean over samples.

    1, which is all of it, where a prediction is not finite.
    """
    both = [logits.softmax(1) for logits in (before, after)]
    return float(((both[0] - both[1]).abs().sum(1).mean() / 2).nan_to_num(1.0))
