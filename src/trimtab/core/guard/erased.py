"""Label shift that batch norms erase, told by how little any class stands out of a batch.

Normalised by the statistics of few classes, a batch loses just what these have in common, and
predictions scatter over all classes. So does a batch look that a biased source model takes for one
class while the adapted model is right; but there every class stands out of the samples of all
others, and here none does (prominence). Neither bias nor scale of a model matters.

How far is a matter of the network: of a weak one's batches hardly any class stands out even where
there are all of them. So where none does, the source's weights are asked once more, halfway: with
the batch's statistics in the first batch norms, which mend the domain and hardly erase classes, and
stored ones in the later, which erase none. What they show few classes of is a run.
"""

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.batch_signs import coverage
from trimtab.core.guard.look import COLUMNS, Look
from trimtab.core.prominence import highest_prominence, prominence

LATEST_SAMPLES = 64
"""Samples, at least a whole batch, over which classes stand out or do not."""
KNOWN_SAMPLES = 32
"""Fewer do not tell."""
FEWEST_CLASSES, SAMPLES_PER_CLASS = 4, 3
"""Of fewer classes none is rare enough to stand out; of more than the samples have room for, too
few are there."""
MEMORY, ASKED_MEMORY = 0.75, 0.25
"""Weight of what was known before, once as many samples have come, or were asked of."""
ERASED, CLEAR = 0.2, 0.265
"""Of the way from chance to perfect predictions: up to the first, classes are erased for certain;
from the second on they are not."""
FEW, MANY = 0.55, 0.75
"""Share of the classes that predictions halfway show: up to the first they are few, from the second
on nothing is erased."""
FEWEST_SAMPLES = 8
"""Of smaller batches it is counted what the source says of the latest samples compared: statistics
of so few tell of no domain."""
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


def is_worth_a_pass(evidence: Tensors, look: Look) -> bool:
    """Whether the source's weights are worth asking halfway."""
    return len(look.source) >= FEWEST_SAMPLES and suspicion(evidence, look.classes) > 0


def compared(evidence: Tensors, look: Look) -> Tensors:
    """The evidence once the models are compared: how many classes are there, erased or not."""
    if not evidence["prominence"].any():  # of segments, and without batch norms
        return evidence
    if look.halfway is not None:
        said = look.halfway.argmax(1)
    elif len(look.source) < FEWEST_SAMPLES:
        earlier = evidence["ring"][:, SOURCE].to(look.source_said)
        said = torch.cat([look.source_said, earlier])[:LATEST_SAMPLES]
    else:
        return evidence
    shown, share = coverage(said, look.classes), min(1.0, len(look.source) / LATEST_SAMPLES)
    known = _averaged(evidence["halfway"], shown, share, ASKED_MEMORY)
    return evidence | {"halfway": known}


def _averaged(known: Tensor, found: float, share: float, memory: float) -> Tensor:
    """A sum and its weight, shape (2,), with what a share of ``LATEST_SAMPLES`` has shown."""
    averaged: Tensor = memory**share * known + share * known.new_tensor([found, 1.0])
    return averaged


def suspicion(evidence: Tensors, classes: int) -> float:
    """How sure it is that hardly any class stands out of batches at present, from 0 to 1."""
    total, weight = evidence["prominence"].tolist()
    if not weight:
        return 0.0
    shown = float(total / weight - 1) / (highest_prominence(classes) - 1)
    return _falling(shown, ERASED, CLEAR)


def certainty(evidence: Tensors, classes: int) -> float:
    """How sure it is that batch norms erase classes at present, from 0 to 1."""
    total, weight = evidence["halfway"].tolist()
    few = _falling(total / weight, FEW, MANY) if weight else 0.0
    return few * suspicion(evidence, classes)


def _falling(value: float, least: float, most: float) -> float:
    """1 up to the least, 0 from the most on, and a straight line between them."""
    return min(max((most - value) / (most - least), 0.0), 1.0)
