"""Temporal correlation of labels, told from a biased source model: what is said of neighbours.

Where classes come in runs, batch norms erase them: the source model says one class of most samples
and the adapted model many. So it looks as well where a domain shift biases the source model, and
there the adapted model is right. What tells the two apart is time: in a run even the adapted model
says the source's class of neighbours more often than it usually does. Of a bias it knows nothing.
"""

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard.look import COLUMNS, Look
from trimtab.core.guard.merit import Order
from trimtab.core.shares import class_shares

NEIGHBOURS = 64
"""Latest samples, at least a whole batch, that are neighbours of each other."""
USUAL_SAMPLES, EVEN_SAMPLES = 4096.0, 128.0
"""Samples over which the adapted model's usual classes are known; so many of every class alike are
taken for known when a stream begins."""
MEMORY = 0.9
"""Weight of what was known before a comparison."""
LEAST, SURE, LATER = 1.75, 2.75, 1.0
"""Deviations from independent classes, up to which there is no order when a stream begins, and from
which on there is for certain; and how many more are asked for later, when chance had many tries."""
BEGINNING = 512
"""Samples after which, and over which, these are added."""
RECENT = 64
"""Samples compared that tell which model shows fewer classes."""

OWN, SOURCE = COLUMNS.index("class"), COLUMNS.index("source_class")


def arrived(evidence: Tensors, logits: Tensor) -> Tensors:
    """The evidence once the adapted model has predicted a batch, of shape (samples, classes)."""
    if logits.dim() != 2:
        return evidence  # of segments, which are no runs
    said, classes = logits.argmax(1).cpu(), logits.shape[1]
    lately, usual = evidence["lately"].long(), evidence["usual_said"]
    known = evidence["said"]
    if not len(usual):
        usual = torch.full((classes,), 1 / classes, dtype=torch.float32)
    elif len(lately):
        known = (known + len(said)).clamp(max=USUAL_SAMPLES - EVEN_SAMPLES)
        weight = min(1.0, len(said) / (float(known) + EVEN_SAMPLES))
        usual = usual.lerp(class_shares(lately, classes), weight)
    latest = torch.cat([said, lately])[: max(len(said), NEIGHBOURS)]
    return evidence | {"lately": latest.float(), "usual_said": usual, "said": known}


def compared(evidence: Tensors, look: Look) -> Tensors:
    """The evidence once the models are compared on samples of the batch that arrived.

    Of each sample, by how much more often than usual the adapted model says the source's class of
    its neighbours. Its mean is 0 where classes come independently of each other, whatever either
    model's biases; it is counted in deviations, and these are added up, the latest weighing most.
    """
    lately, usual = evidence["lately"].long(), evidence["usual_said"]
    if look.corrects or look.source.dim() != 2 or len(lately) < 2:
        return evidence
    own, source = look.said.cpu(), look.source_said.cpu()
    others = len(lately) - 1
    counts = torch.bincount(lately, minlength=look.classes)
    found = (counts[source] - (own == source).long()) / others - usual[source]
    shares = class_shares(source, look.classes)
    chance = float((usual * shares).sum())
    spread = float((usual * shares.square()).sum()) - chance**2
    error = 1 / others + 1 / (float(evidence["said"]) + EVEN_SAMPLES)
    variance = spread * error + chance * (1 - chance) / (others * len(source))
    deviations = float(found.mean()) / max(variance, 1e-12) ** 0.5
    total, weight = evidence["order"].tolist()
    order = [MEMORY * total + deviations, MEMORY**2 * weight + 1]
    return evidence | {"order": torch.tensor(order, dtype=torch.float64)}


def strength(evidence: Tensors) -> float:
    """Deviations from independent classes, less those that chance is allowed by now."""
    total, weight = evidence["order"].tolist()
    later = min(max(float(evidence["said"]) / BEGINNING - 1, 0.0), 1.0)
    return float(total / max(weight, 1.0) ** 0.5) - LATER * later


def known(evidence: Tensors) -> Order:
    """What is known of the order of classes."""
    sure = (strength(evidence) - LEAST) / (SURE - LEAST)
    shares = class_shares(evidence["lately"].long(), len(evidence["usual_said"]))
    excess = (shares - evidence["usual_said"]).clamp(min=0.0)
    return Order(min(max(sure, 0.0), 1.0), excess)


def is_seen(evidence: Tensors) -> bool:
    """Whether there seems to be order."""
    return strength(evidence) > LEAST


def is_plainer_to_source(evidence: Tensors) -> bool:
    """Whether the source shows fewer classes than the adapted model."""
    latest = evidence["ring"][:RECENT].long()
    classes = len(evidence["usual_said"])
    own, source = (class_shares(latest[:, place], classes) for place in (OWN, SOURCE))
    return float(source.square().sum()) > float(own.square().sum())
