"""BN adaptation that bears label shift: batch statistics as far as batches hold all classes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import NormRule, OutputRule, Start, Step
from trimtab.core.norm import NormPolicy

RING_SAMPLES = 64
"""Latest predictions, at most, whose classes are counted."""
FEWEST_SAMPLES = 32
"""Fewer do not show that classes are many."""
WITNESS_SAMPLES = 24
"""Samples that pass the network once more to see which classes a batch holds."""
OPENS, CLOSES = 0.44, 0.36
"""Coverage of the classes, times how far batch and stored statistics agree on predictions, divided
by how much less sure a batch's make them. On validation streams independent samples have 0.4 in
the hardest domains and 0.6 to 1 elsewhere, batches of one class 0.3 at most on average."""
FEW_CLASSES = 0.4
"""Coverage of corrected predictions below which the gate closes at once."""
EARLY_WEIGHT = 0.5
"""Weight of a batch's statistics in the first half while the later half uses stored ones."""
STARTLED = 4.0
"""Standard errors by which confidence falls that call for a witness at once."""
CONFIDENCE_SAMPLES = 512.0
"""Over which the usual confidence is known."""


@dataclass(frozen=True)
class AdaptiveNorm(OutputRule, NormRule):
    """Let batch norms trust a batch by its size, and the later ones by the classes it holds.

    Statistics of early layers tell of the domain, those of later layers of the classes too: where
    a batch holds one class, normalising by its statistics erases that class, and predictions
    scatter over all of them. So the later half of the batch norms takes a batch's statistics only
    while samples show about as many classes as independent ones would, judged from predictions
    with stored statistics in the later half, while both kinds of statistics agree on predictions
    more than by chance (Cohen's kappa), and while a batch's do not make them much less sure
    (entropy). Some samples pass the network again now and then, with the gate as it is not; at
    once where confidence falls, or where the gate is in doubt: it has just opened, the last of them
    spoke for closing, or it is closed while many classes show. While it is closed, classes are
    counted in predictions as corrected by the output rules before this one; where these find few
    classes the gate closes at once. How many classes predictions with a batch's statistics show
    has no say, so the gate can always close and open again.

    Args:
        stored_samples: A batch of this many samples weighs as much as the stored statistics.
        witness_every: One sample in so many passes the network again.
    """

    stored_samples: float = 6.0
    witness_every: int = 16

    not_dense = "tells runs of one class from changes of domain, and an image has many classes"

    def __post_init__(self) -> None:
        if not self.stored_samples > 0:
            raise ValueError(f"stored_samples must be positive, got {self.stored_samples}")
        if not self.witness_every >= 1:
            raise ValueError(f"witness_every must be at least 1, got {self.witness_every}")

    def new_memory(self, start: Start) -> Tensors:
        if not start.backbone.has_batch_norm:
            return {}
        zero = torch.zeros((), device=start.device)
        return {
            "open": zero.clone(),
            "classes": torch.zeros(RING_SAMPLES, device=start.device),
            "counted": zero.clone(),
            "coverage": zero.clone(),
            "agreement": zero + 1,
            "entropy_ratio": zero + 1,
            "in_doubt": zero.clone(),
            "credit": zero + RING_SAMPLES,
            "confidence": zero.clone(),
            "confidence_variance": zero.clone(),
            "confidence_counted": zero.clone(),
        }

    def norm(self, policy: NormPolicy, samples: int, memory: Tensors) -> NormPolicy:
        if not memory or not policy.couples_samples:
            return policy
        # a policy that keeps statistics weighs batches against the stream by itself
        size = samples**2 / (samples**2 + self.stored_samples**2)
        weighed = policy.batch_weight * (1.0 if policy.keep_weight else size)
        return _gated(replace(policy, batch_weight=weighed), bool(memory["open"]))

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        if not memory or not step.policy.couples_samples:
            return logits
        is_open = bool(memory["open"])
        startled = self._startled(step.logits, memory)
        witness = self._witness(step, startled or bool(memory["in_doubt"]), memory)
        if not is_open:
            self._judge(logits, memory)
        elif coverage(logits.argmax(1), logits.shape[1]) < FEW_CLASSES:  # the prior found few
            memory["open"].zero_()
        elif witness is not None:
            if startled:
                memory["coverage"].zero_()  # what was known is of another time
            self._judge(witness, memory)
        return logits

    def _witness(self, step: Step, urgent: bool, memory: Tensors) -> Tensor | None:
        """Logits of some samples with the gate as it is not, where it is time for that.

        A batch's statistics and stored ones are compared by them.
        """
        memory["credit"].add_(len(step.inputs) / self.witness_every)
        first = not bool(memory["counted"])
        samples = min(len(step.inputs), RING_SAMPLES if first else WITNESS_SAMPLES)
        if memory["credit"] < (-2 * samples if first or urgent else 2 * samples):
            return None
        memory["credit"].sub_(samples).clamp_(max=float(RING_SAMPLES))
        is_open = bool(memory["open"])
        policy = _ungated(step.policy, is_open)
        shown = step.forward(step.inputs[:samples], policy=_gated(policy, not is_open)).logits
        batch, stored = (
            (step.logits[:samples], shown) if is_open else (shown, step.logits[:samples])
        )
        ratio = (_entropy(batch) / _entropy(stored).clamp(min=1e-6)).clamp(0.25, 4.0)
        known = 0.5 if is_open else 0.0  # what closed the gate is of another time
        memory["entropy_ratio"].lerp_(ratio.to(memory["entropy_ratio"]), 1 - known)
        memory["agreement"].mul_(known).add_((1 - known) * kappa(batch.argmax(1), stored.argmax(1)))
        return shown

    def _judge(self, logits: Tensor, memory: Tensors) -> None:
        """Take in predictions with stored statistics in the later half, and judge by them."""
        is_open, classes = bool(memory["open"]), logits.argmax(1)
        latest = torch.cat([classes.to(memory["classes"]), memory["classes"]])
        memory["classes"].copy_(latest[:RING_SAMPLES])
        memory["counted"].add_(len(classes)).clamp_(max=RING_SAMPLES)
        count = len(classes) if is_open else max(int(memory["counted"]), len(classes))
        if count < FEWEST_SAMPLES and not is_open:
            return
        found = coverage(latest[:count], logits.shape[1])
        known = 0.5 if bool(memory["coverage"]) else 0.0
        memory["coverage"].mul_(known).add_((1 - known) * found)
        trust = memory["agreement"] / memory["entropy_ratio"]
        memory["open"].fill_(memory["coverage"] * trust >= (CLOSES if is_open else OPENS))
        if memory["open"]:
            memory["in_doubt"].fill_(not is_open or bool(found * trust < OPENS))
        else:
            memory["in_doubt"].fill_(memory["coverage"] >= OPENS)

    def _startled(self, logits: Tensor, memory: Tensors) -> bool:
        """Whether a batch is much less confident than usual; it becomes part of what is usual."""
        confidence = logits.softmax(1).amax(1).to(memory["confidence"])
        mean, variance = confidence.mean(), confidence.var(correction=0)
        error = (memory["confidence_variance"] / len(confidence)).sqrt()
        fell = memory["confidence"] - mean > STARTLED * error
        known = memory["confidence_counted"] > 0
        count = memory["confidence_counted"].clamp(max=CONFIDENCE_SAMPLES)
        weight = len(confidence) / (count + len(confidence))
        memory["confidence"].lerp_(mean, weight)
        memory["confidence_variance"].lerp_(variance, weight)
        memory["confidence_counted"].add_(len(confidence))
        return bool(fell & known)

    def report(self, memory: Tensors) -> Mapping[str, float]:
        if not memory:
            return {}
        return {
            "late_share": float(memory["open"]),
            "class_coverage": float(memory["coverage"]),
            "agreement": float(memory["agreement"]),
            "entropy_ratio": float(memory["entropy_ratio"]),
        }


def _gated(policy: NormPolicy, is_open: bool) -> NormPolicy:
    return replace(
        policy,
        batch_weight=policy.batch_weight * (1.0 if is_open else EARLY_WEIGHT),
        late_share=float(is_open),
        differentiable=False,  # constants for the gradient, which is as good and much faster
    )


def _ungated(policy: NormPolicy, is_open: bool) -> NormPolicy:
    """The policy that ``_gated`` was given."""
    weight = policy.batch_weight / (1.0 if is_open else EARLY_WEIGHT)
    return replace(policy, batch_weight=min(weight, 1.0))


def _entropy(logits: Tensor) -> Tensor:
    """Mean entropy of predictions, in nats."""
    return -(logits.softmax(1) * logits.log_softmax(1)).sum(1).mean()


def kappa(left: Tensor, right: Tensor) -> float:
    """Cohen's kappa: how far two predictions of the same samples agree beyond chance, 0 to 1."""
    size = int(max(left.max(), right.max())) + 1
    shares = [torch.bincount(classes, minlength=size) / len(classes) for classes in (left, right)]
    chance = float((shares[0] * shares[1]).sum())
    agreed = float((left == right).float().mean())
    return max(0.0, (agreed - chance) / max(1 - chance, 1e-6))


def coverage(classes: Tensor, num_classes: int) -> float:
    """Number of classes that samples show, as a share of what independent balanced ones show.

    Classes are counted by the entropy of their shares, so that rare ones count for little.
    """
    shares = torch.unique(classes, return_counts=True)[1] / len(classes)
    entropy = float(-(shares * shares.log()).sum())
    return math.exp(entropy - expected_entropy(len(classes), num_classes))


@cache
def expected_entropy(samples: int, num_classes: int) -> float:
    """Mean entropy, in nats, of the class shares of independent samples of balanced classes."""
    total = 0.0
    for hits in range(1, samples + 1):
        log_chance = (
            math.lgamma(samples + 1)
            - math.lgamma(hits + 1)
            - math.lgamma(samples - hits + 1)
            - hits * math.log(num_classes)
            + (samples - hits) * math.log1p(-1 / num_classes if num_classes > 1 else -1 + 1e-12)
        )
        share = hits / samples
        total -= num_classes * math.exp(log_chance) * share * math.log(share)
    return total
