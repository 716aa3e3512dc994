"""What is usual for the batches of a stream, so that an odd one is looked at soon."""

from typing import NamedTuple

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard.look import confidence
from trimtab.core.shares import class_shares, effective_classes
from trimtab.core.structured import Structured

FACTS = ("confidence", "classes", "brightness", "contrast", "roughness")
"""Of a batch: two of its predictions, three of its inputs. Confidence is that above chance, so that
a fall shows as well where a method's outputs are logits times small numbers (ROID's prior)."""
CONFIDENCE, INPUT_FACTS = 0, slice(2, None)

KNOWN_BATCHES = 4
"""Before so many, nothing is known to be usual."""
USUAL_BATCHES = 8.0
"""Batches over which the usual is known."""
LARGEST = 1e12
"""Of a fact: its square must be finite."""
SURPRISE = 4.0
"""Deviations by which inputs are unusual, or predictions unusually little sure."""
EVERY_ROW = 4
"""Of images, one row of pixels in so many tells enough."""
LEAST_DEVIATION = 0.01
"""Share of the usual that a batch may be off, however steady the stream was."""


def facts(inputs: Tensor, logits: Tensor) -> Tensor:
    """A batch in five numbers, float64, on the CPU; of structured inputs, the first tensor."""
    shares = class_shares(logits.argmax(1).cpu().flatten(), logits.shape[1])
    plain = inputs.tensors[0] if isinstance(inputs, Structured) else inputs
    values = (plain[:, :, ::EVERY_ROW] if plain.dim() == 4 else plain).float()
    found = [
        float(confidence(logits.float()).mean()) - 1 / logits.shape[1],
        effective_classes(shares),
        float(values.mean()),
        float(values.std(correction=0)),
        float((values[..., 1:] - values[..., :-1]).abs().sum()) / values.numel(),
    ]
    return torch.tensor(found, dtype=torch.float64).nan_to_num(0.0).clamp(-LARGEST, LARGEST)


class Surprise(NamedTuple):
    """How a batch is unlike those before it.

    Args:
        inputs: Whether they are of another kind.
        unsure: Whether confidence has fallen: where batch norms erase a run of one class, or were
            misled, the adapted model is much less sure than before.
    """

    inputs: bool
    unsure: bool


def noted(evidence: Tensors, found: Tensor) -> tuple[Tensors, Surprise]:
    """The evidence once a batch is part of the usual, and how far it was not."""
    mean, variance = evidence["usual_mean"], evidence["usual_variance"]
    batches = float(evidence["batches"])
    deviation = variance.sqrt() + LEAST_DEVIATION * mean.abs() + 1e-6
    off = (found - mean) / deviation
    weight = 1 / min(batches + 1, USUAL_BATCHES)
    moved = mean + weight * (found - mean)
    spread = (1 - weight) * (variance + weight * (found - mean).square())
    known = batches >= KNOWN_BATCHES
    unlike = off[INPUT_FACTS].square().mean().sqrt() if known else torch.zeros_like(off[0])
    changed = {
        "usual_mean": moved,
        "usual_variance": spread,
        "batches": evidence["batches"] + 1,
        "unlike": unlike,
    }
    inputs, unsure = float(off[INPUT_FACTS].abs().max()), -float(off[CONFIDENCE])
    return evidence | changed, Surprise(known and inputs > SURPRISE, known and unsure > SURPRISE)
