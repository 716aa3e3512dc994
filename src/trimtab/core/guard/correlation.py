"""Temporal correlation of predictions: neighbours are more alike than samples further apart.

A biased model says one class of many samples, and so does one that sees a run of that class. But a
bias survives shuffling: two neighbours have the same class no more often than a sample and one that
came some hundred samples before it. In a stream of runs they have. The test asks predictions alone,
and costs no pass.
"""

import math

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard import runs
from trimtab.core.shares import class_shares

BLOCK_SAMPLES = 32
"""Neighbours, at least, whose classes are compared with those of the samples before them."""
RECENT_SAMPLES = 512.0
"""Samples before them."""
MEMORY = 0.9
"""Weight of what was known before a block."""
CORRELATED = 3.0
"""Deviations from independent samples, from which on there is correlation."""


def arrived(evidence: Tensors, logits: Tensor) -> Tensors:
    """The evidence once the adapted model has predicted a batch, of shape (samples, classes).

    Args:
        logits: Before the output rules that assume classes in runs.
    """
    if logits.dim() != 2:
        return evidence  # of segments, which are no runs
    block = torch.cat([evidence["block"], logits.argmax(1).to(evidence["block"])])
    if len(block) < BLOCK_SAMPLES:
        return evidence | {"block": block}
    shares, known = class_shares(block.long(), logits.shape[1]).double(), evidence["recent_samples"]
    recent, correlation = evidence["recent_classes"], evidence["correlation"]
    deviations = 0.0
    if len(recent):
        deviations = deviations_of(shares, len(block), recent, float(known))
        total, weight = correlation.tolist()
        correlation = correlation.new_tensor([MEMORY * total + deviations, MEMORY**2 * weight + 1])
    after = (known + len(block)).clamp(max=RECENT_SAMPLES)
    weight = min(1.0, len(block) / float(after))
    return evidence | {
        "block": block[:0],
        "recent_classes": recent.lerp(shares, weight) if len(recent) else shares,
        "recent_samples": after,
        "correlation": correlation,
        "runs": runs.noted(evidence["runs"], block.long(), deviations),
    }


def deviations_of(shares: Tensor, samples: int, recent: Tensor, known: float) -> float:
    """By how much more often two samples of a block have the same class than one of them and one of
    those before, in standard deviations of independent samples.

    Args:
        shares: Of classes in the block, shape (classes,).
        samples: Of the block.
        recent: Shares of classes before it, shape (classes,), in ``known`` samples.
    """
    near = float((shares * (shares * samples - 1)).sum()) / (samples - 1)
    far = float((shares * recent).sum())
    pooled = (shares * samples + recent * known) / (samples + known)
    pairs, triples = (float(pooled.pow(power).sum()) for power in (2, 3))
    linear = (triples - pairs**2) * (1 / samples + 1 / known)
    quadratic = 2 / samples**2 * (pairs - 2 * triples + pairs**2)
    return (near - far) / math.sqrt(max(linear + quadratic, 1e-12))


def is_seen(evidence: Tensors) -> bool:
    """Whether the latest predictions are correlated in time."""
    total, weight = evidence["correlation"].tolist()
    return bool(total >= CORRELATED * max(weight, 1.0) ** 0.5)
