"""Category-balanced sample memory that updates learn from (RoTTA, arXiv:2303.13899)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import Recall, Start, Step, Weighting
from trimtab.core.ranges import check_counts


class Item(NamedTuple):
    """What the memory knows of a stored sample; an empty place has label -1."""

    label: int
    uncertainty: float
    age: int
    arrival: int


@dataclass(frozen=True)
class ClassBalancedMemory(Recall, Weighting):
    """Learn from stored samples: as many of each predicted class, recent and certain ones.

    Each sample that comes is stored where there is room, or takes the place of the worst one of
    the fullest classes (of its own class once that has its share), if it scores better. The score
    of a sample is how old and how uncertain it is. Old samples count less in an update.

    Args:
        size: Samples to store.
        samples_per_update: Samples that come between two updates; None takes ``size``.
        timeliness_weight: Weight of a sample's age in its score.
        uncertainty_weight: Of its prediction's entropy in its score.
    """

    size: int = 64
    samples_per_update: int | None = None
    timeliness_weight: float = 1.0
    uncertainty_weight: float = 1.0

    not_dense = "stores samples by their class, and an image has many"

    def __post_init__(self) -> None:
        check_counts(self, "size", unit="sample")
        check_counts(self, "samples_per_update")

    def new_memory(self, start: Start) -> Tensors:
        """Stored inputs (size, ...), a row of label, uncertainty, age and arrival for each."""
        shape, kind = (self.size, *start.sample_shape), start.backbone.dtype
        return {
            "inputs": torch.zeros(shape, dtype=kind, device=start.device),
            "items": torch.tensor([[-1.0, 0.0, 0.0, 0.0]], dtype=torch.float64).repeat(
                self.size, 1
            ),
            "arrived": torch.tensor(0),
        }

    def recall(self, step: Step, memory: Tensors) -> Iterator[Tensor]:
        """Store samples one by one; all that is stored, whenever an update is due."""
        probs = step.logits.softmax(1)
        uncertainty = -(probs * (probs + 1e-6).log()).sum(1)
        labels, uncertainties = probs.argmax(1).tolist(), uncertainty.tolist()
        for sample, label, value in zip(step.inputs, labels, uncertainties, strict=True):
            arrived = int(memory["arrived"]) + 1
            self._take(Item(label, value, 0, arrived), sample, probs.shape[1], memory)
            memory["arrived"] = torch.tensor(arrived)
            if arrived % (self.samples_per_update or self.size) == 0:
                yield memory["inputs"][self.order(memory)]

    def _take(self, new: Item, sample: Tensor, classes: int, memory: Tensors) -> None:
        items = read(memory)
        place = self._place_for(new, items, classes)
        if place is not None:
            items[place] = new
            memory["inputs"][place] = sample
        aged = [item._replace(age=item.age + 1) if item.label >= 0 else item for item in items]
        memory["items"] = torch.tensor(aged, dtype=torch.float64)

    def _place_for(self, new: Item, items: list[Item], classes: int) -> int | None:
        """Where a newcomer goes; None where it is not to be stored."""
        counts = Counter(item.label for item in items)
        empty = counts.pop(-1, 0)
        crowded = {new.label}
        if counts[new.label] < self.size / classes:
            if empty:
                return next(place for place, item in enumerate(items) if item.label < 0)
            crowded = {label for label, count in counts.items() if count == max(counts.values())}
        scores = [
            (self._score(item, classes), item.label, item.arrival, place)
            for place, item in enumerate(items)
            if item.label in crowded
        ]
        worst, _, _, place = max(scores)
        return place if worst > self._score(new, classes) else None

    def _score(self, item: Item, classes: int) -> float:
        """The higher, the sooner to go."""
        timeliness = 1 / (1 + exp(-item.age / self.size))
        uncertainty = item.uncertainty / max(log(classes), 1e-12)
        return self.timeliness_weight * timeliness + self.uncertainty_weight * uncertainty

    def order(self, memory: Tensors) -> list[int]:
        """The places in use, by class and then by arrival."""
        stored = [(i.label, i.arrival, p) for p, i in enumerate(read(memory)) if i.label >= 0]
        return [place for _, _, place in sorted(stored)]

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        """From a half, down with the age of each stored sample."""
        ages = memory["items"][self.order(memory), 2].to(step.logits)
        return torch.sigmoid(-ages / self.size)


def read(memory: Tensors) -> list[Item]:
    """The items of all places."""
    rows = memory["items"].tolist()
    return [Item(int(label), value, int(age), int(n)) for label, value, age, n in rows]
