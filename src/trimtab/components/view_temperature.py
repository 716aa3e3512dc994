"""Temperature scaling without labels: be as sure as other views of the samples agree."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.augment import Augment, ColorAffineFlip, augmented, mirrored
from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, Start, Step

LOWEST_LOG, HIGHEST_LOG = math.log(0.5), math.log(16.0)
"""A batch of easy samples must not make a model all too sure."""
HALVINGS = 20
"""Of the range of log temperatures, which leaves it known to five digits."""
PART, BATCH_NORM_PART = 8, 1
"""After the first batch, one sample in so many of a batch is looked at. Where there are batch norms
it is whole batches, more rarely: views of a few samples have statistics of their own, and agree
with the batch far less than predictions are right."""
DOUBT_SAMPLES = 4.0
"""The first so many count half."""


@dataclass(frozen=True)
class ViewTemperature(OutputRule):
    """Divide logits by a temperature at which confidence is how often predictions seem right.

    Once in a while a batch is looked at in two more views, a mild and a strong one. How often
    their classes are the original's stands in for how often predictions are right. The strong
    view is harder than the original; by how much, the model says itself by its confidence. Part
    of the agreement is shared mistakes, taken as chance among the classes. A model whose
    confidence is right already keeps it.

    Args:
        augment: Makes the strong view of a batch.
        mild: Makes the mild view of a batch.
        every: One sample in so many is looked at: all of the first batch, then a part of a batch
            now and then; half as many once ``memory`` samples are known.
        memory: How many samples the temperature is found from, the latest.
    """

    augment: Augment = field(default_factory=ColorAffineFlip)
    mild: Augment = mirrored
    every: int = 16
    memory: int = 192

    tells_of_stream = True
    not_dense = "compares views that move pixels"

    def __post_init__(self) -> None:
        for name in ("every", "memory"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def new_memory(self, start: Start) -> Tensors:
        zeros = torch.zeros(self.memory, device=start.device)
        return {
            "logits": zeros[:, None].repeat(1, start.num_classes),
            "agrees": zeros.clone(),
            "agrees_mildly": zeros.clone(),
            "view_confidence": zeros.clone(),
            "part": zeros[0] + (BATCH_NORM_PART if start.backbone.has_batch_norm else PART),
            "seen": zeros[0].clone(),
            "due_in": zeros[0].clone(),
            "log_temperature": zeros[0].clone(),
        }

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        if memory["due_in"] <= 0:
            self._look(step, memory)
        memory["due_in"].sub_(len(logits))
        return logits / memory["log_temperature"].exp()

    def report(self, memory: Tensors) -> Mapping[str, float]:
        count = int(memory["seen"])
        found = {"temperature": float(memory["log_temperature"].exp())}
        return found | {"accuracy": _latest(memory, count)[1]} if count else found

    def _look(self, step: Step, memory: Tensors) -> None:
        """Remember what two views say of samples, and set the temperature by it.

        Of the first batch, which is one moment of a stream, later looks keep as little as of any.
        """
        part = int(memory["part"])
        rows = torch.arange(len(step.inputs), device=step.inputs.device)
        rows = torch.cat([rows[first::part] for first in range(1 if memory["seen"] else part)])
        few = -(-len(step.inputs) // part)
        full = int(memory["seen"]) >= self.memory
        memory["due_in"].add_((2 if full else 1) * self.every * few)
        views = [
            augmented(view, step.inputs[rows], step.generator) for view in (self.augment, self.mild)
        ]
        strong, mild = (step.forward(view).logits for view in views)
        if not bool((strong + mild).isfinite().all()):
            return
        logits = step.logits[rows]
        said = logits.argmax(1)
        self._remember("logits", logits, memory)
        self._remember("agrees", strong.argmax(1) == said, memory)
        self._remember("agrees_mildly", mild.argmax(1) == said, memory)
        self._remember("view_confidence", _confidence(strong), memory)
        count = min(int(memory["seen"]) + len(rows), self.memory)
        shown = count / (count + DOUBT_SAMPLES)
        memory["log_temperature"].fill_(shown * _honest_log(*_latest(memory, count)))
        memory["seen"].add_(few).clamp_(max=self.memory)

    def _remember(self, name: str, values: Tensor, memory: Tensors) -> None:
        """Put values in front of those of earlier samples."""
        kept = torch.cat([values.to(memory[name]), memory[name]])
        memory[name].copy_(kept[: self.memory])


def _latest(memory: Tensors, count: int) -> tuple[Tensor, float]:
    """Logits that are remembered, and how many of them seem right."""
    logits = memory["logits"][:count]
    harder = _confidence(logits).mean() / memory["view_confidence"][:count].mean()
    strong = (memory["agrees"][:count].mean() * harder).clamp(max=1).sqrt()
    agreement = float(strong * memory["agrees_mildly"][:count].mean())
    chance = 1 / logits.shape[1]
    right = max((agreement - chance) / (1 - chance), chance)
    return logits, (count * right + 1) / (count + 2)  # never quite sure (Laplace)


def _honest_log(logits: Tensor, right: float) -> float:
    """The log temperature at which the mean confidence is ``right``."""
    low, high = LOWEST_LOG, HIGHEST_LOG
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if float(_confidence(logits / math.exp(middle)).mean()) > right:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _confidence(logits: Tensor) -> Tensor:
    """Probability of each sample's likeliest class."""
    return logits.softmax(1).amax(1)
