"""Label shift that batch norms erase, told by how little any class stands out of a batch.

Normalised by the statistics of few classes, a batch loses just what these have in common, and
predictions scatter over all classes. So does a batch look that a biased source model takes for one
class while the adapted model is right; but there every class stands out of the samples of all
others, and here none does (prominence). Neither bias nor scale of a model matters.
"""

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.prominence import highest_prominence, prominence

LATEST_SAMPLES = 64
"""Samples, at least a whole batch, over which classes stand out or do not."""
KNOWN_SAMPLES = 32
"""Fewer do not tell."""
FEWEST_CLASSES, SAMPLES_PER_CLASS = 4, 3
"""Of fewer classes none is rare enough to stand out; of more than the samples have room for, too
few are there."""
MEMORY = 0.75
"""Weight of what was known before, once as many samples have come."""
ERASED, CLEAR = 0.2, 0.265
"""Of the way from chance to perfect predictions: up to the first, classes are erased for certain;
from the second on they are not."""


def arrived(evidence: Tensors, logits: Tensor) -> Tensors:
    """The evidence once the adapted model has predicted a batch, of shape (samples, classes)."""
    if logits.dim() != 2 or not tells(logits.shape[1]):
        return evidence
    latest = logits.detach().float().cpu()
    if len(logits) < LATEST_SAMPLES:
        earlier = evidence["lately_logits"].view(-1, logits.shape[1])
        latest = torch.cat([latest, earlier])[:LATEST_SAMPLES]
        evidence = evidence | {"lately_logits": latest.flatten()}
    if len(latest) < KNOWN_SAMPLES:
        return evidence
    share = min(1.0, len(logits) / LATEST_SAMPLES)
    kept, found = MEMORY**share, share * prominence(latest)
    total, weight = evidence["prominence"].tolist()
    known = [kept * total + found, kept * weight + share]
    return evidence | {"prominence": torch.tensor(known, dtype=torch.float64)}


def tells(classes: int) -> bool:
    """Whether prominence tells of as many classes."""
    return FEWEST_CLASSES <= classes <= LATEST_SAMPLES // SAMPLES_PER_CLASS


def certainty(evidence: Tensors, classes: int) -> float:
    """How sure it is that batch norms erase classes at present, from 0 to 1."""
    total, weight = evidence["prominence"].tolist()
    if not weight:
        return 0.0
    shown = float(total / weight - 1) / (highest_prominence(classes) - 1)
    return min(max((CLEAR - shown) / (CLEAR - ERASED), 0.0), 1.0)
