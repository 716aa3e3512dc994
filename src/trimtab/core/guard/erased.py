"""Label shift that batch norms erase, told by how little any class stands out of a batch.

Normalised by the statistics of few classes, a batch loses just what these have in common, and
predictions scatter over all classes. So does a batch look that a biased source model takes for one
class while the adapted model is right; but there every class stands out of the samples of all
others, and here none does (prominence). Neither bias nor scale of a model matters. Of a weak
network's batches hardly any class stands out even where there are all of them. But then its source
model, which nothing scatters, shows most of them; and where both models show many classes and agree
on them, it is seen how far classes usually stand out of this network's batches.
"""

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.batch_signs import coverage, kappa
from trimtab.core.guard.look import COLUMNS, Look
from trimtab.core.prominence import highest_prominence, prominence

LATEST_SAMPLES = 64
"""Samples, at least a whole batch, over which classes stand out or do not."""
KNOWN_SAMPLES = 32
"""Fewer do not tell."""
FEWEST_CLASSES, SAMPLES_PER_CLASS = 4, 3
"""Of fewer classes none is rare enough to stand out; of more than the samples have room for, too
few are there."""
MEMORY, COMPARED_MEMORY = 0.75, 0.5
"""Weight of what was known before, once as many samples have come, or were compared."""
ERASED, CLEAR = 0.2, 0.265
"""Of the way from chance to perfect predictions: up to the first, classes are erased for certain;
from the second on they are not."""
USUAL = 0.33
"""Both are for networks whose batches of many classes usually have as much, or more; for others
they are as much less."""
FEW, MANY = 0.5, 0.7
"""Share of the classes that the source shows in samples compared: up to the first they are few,
from the second on nothing is erased."""
FEWEST_SAMPLES = 8
"""Fewer samples of a batch are counted together with those compared before."""
APART, TOGETHER = 0.2, 0.5
"""Agreement of both models beyond chance: up to the first, many classes of the source are its
mistakes, from the second on they are there."""
USUAL_MEMORY, KNOWN_WEIGHT = 0.95, 0.5
"""Weight of what was usual before, once as many samples have shown many classes; batches that have
to have done so until it is known."""
SOURCE = COLUMNS.index("source_class")


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
    found = _averaged(evidence["prominence"], prominence(latest), share, MEMORY)
    return evidence | {"prominence": found}


def tells(classes: int) -> bool:
    """Whether prominence tells of as many classes."""
    return FEWEST_CLASSES <= classes <= LATEST_SAMPLES // SAMPLES_PER_CLASS


def compared(evidence: Tensors, look: Look) -> Tensors:
    """The evidence once the models are compared: how many classes the source shows, and what is
    usual where both show many."""
    total, weight = evidence["prominence"].tolist()
    if not weight or look.source.dim() != 2:
        return evidence
    said, share = look.source_said, min(1.0, len(look.source) / LATEST_SAMPLES)
    together = torch.cat([said, evidence["ring"][:, SOURCE].to(said)])[
        : max(len(said), FEWEST_SAMPLES)
    ]
    shown = coverage(together, look.classes)
    agreed = 1 - _falling(kappa(look.said, said), APART, TOGETHER)
    told = agreed * (1 - _falling(shown, FEW, MANY))
    covered, usual = evidence["source_coverage"], evidence["usual_prominence"]
    return evidence | {
        "source_coverage": _averaged(covered, shown, share, COMPARED_MEMORY),
        "usual_prominence": _averaged(usual, total / weight, share * told, USUAL_MEMORY),
    }


def _averaged(known: Tensor, found: float, share: float, memory: float) -> Tensor:
    """A sum and its weight, shape (2,), with what a share of ``LATEST_SAMPLES`` has shown."""
    averaged: Tensor = memory**share * known + share * known.new_tensor([found, 1.0])
    return averaged


def suspicion(evidence: Tensors, classes: int) -> float:
    """How sure it is that hardly any class stands out of batches at present, from 0 to 1."""
    shown = _share(evidence["prominence"], classes)
    usual = _share(evidence["usual_prominence"], classes, KNOWN_WEIGHT)
    if shown is None:
        return 0.0
    scale = 1.0 if usual is None else min(1.0, max(usual, 0.0) / USUAL)
    return _falling(shown, scale * ERASED, scale * CLEAR)


def certainty(evidence: Tensors, classes: int) -> float:
    """How sure it is that batch norms erase classes at present, from 0 to 1."""
    total, weight = evidence["source_coverage"].tolist()
    few = _falling(total / weight, FEW, MANY) if weight else 0.0
    return few * suspicion(evidence, classes)


def _share(known: Tensor, classes: int, needed: float = 0.0) -> float | None:
    """Mean prominence as a share of the way from chance to perfect predictions, where it is known
    by more than as many batches."""
    total, weight = known.tolist()
    if weight <= needed:
        return None
    return float(total / weight - 1) / (highest_prominence(classes) - 1)


def _falling(value: float, least: float, most: float) -> float:
    """1 up to the least, 0 from the most on, and a straight line between them."""
    return min(max((most - value) / max(most - least, 1e-6), 0.0), 1.0)
