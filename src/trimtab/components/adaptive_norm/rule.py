"""The gate of a network's later batch norms: open while samples show many classes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from trimtab.components.adaptive_norm import early
from trimtab.core.backbone import Tensors
from trimtab.core.batch_signs import coverage, kappa, shape_entropy, worth
from trimtab.core.component import NormRule, OutputRule, Start, Step
from trimtab.core.looks import NUM_LOOKS, Looks, distance, looks_of
from trimtab.core.norm import NormPolicy
from trimtab.core.prominence import prominence

PROMINENT, SCATTERED = 1.30, 1.23
"""Prominence of the likeliest class that is plain, and below which an open gate is in doubt; one
that a witness has doubted stays so below the first. On validation streams independent samples have
1.2 to 1.7, batches of one class 1.1 to 1.25."""
UNEVEN = 0.88
"""Coverage of an open gate's predictions below which prominent classes may be few, so that it is in
doubt as well. On validation domains independent samples cover 0.92 or more."""
MANY, PLAINLY = 0.8, 0.9
"""Coverage of a closed gate's predictions from which it opens if classes are prominent in them,
and from which it opens in any case, and an open one stays so."""
OPENS, CLOSES, NO_DOUBT = 0.25, 0.05, -0.1
"""What a batch's statistics are worth by a witness: from which the gate opens, below which it
closes once two witnesses in a row say so, and below which it closes at once."""
URGENT = 0.36
"""Coverage of the predictions of a closed gate from which its next witness is heard on credit."""
FEW_CLASSES = 0.4
"""Coverage of corrected predictions below which the gate closes at once."""
CORRECTED = 0.05
"""Share of predictions that the rules before this one change where classes come in some order."""
RING_SAMPLES = 64
"""Latest predictions, at most, whose classes are counted."""
WITNESS_SAMPLES = 24
"""Samples of an open gate's witness."""
MOST_DEBT = 2.0 * WITNESS_SAMPLES
"""Samples that witnesses may be ahead of what one in ``witness_every`` allows."""
DOUBT_DEBT = MOST_DEBT + RING_SAMPLES + 2.0 * WITNESS_SAMPLES
"""The same while an open gate is in doubt: the witness that opened it may have been the last that
could be afforded, and it must not go unheard for long whether that was a mistake."""
FEWEST_SAMPLES = 32
"""As many samples tell how prominent classes are; fewer are averaged with those before them."""
EXCUSES = 1.0
"""Batches in a row without prominent classes that are put down to a change of domain: a batch of
two domains scatters."""
SECOND_LOOKS = 2.0
"""Witnesses at once after the gate has closed, in case that it was a domain after all."""
FEWEST_LOOKS = 16
"""Fewer samples do not tell that inputs look different."""


@dataclass(frozen=True)
class AdaptiveNorm(OutputRule, NormRule):
    """Let batch norms trust a batch by its size, and the later ones by the classes it holds.

    Statistics of early layers tell of the domain, those of later layers of the classes too: where
    a batch holds one class, normalising by its statistics erases that class, and predictions
    scatter over all of them. So the later half of the batch norms takes a batch's statistics only
    while the gate is open. It opens where the likeliest class is prominent: standardised over the
    batch, class by class, its logits stand out as only those of many classes do. That is seen in
    the predictions at hand, and so is where stored statistics plainly show all classes. Where they
    do not decide, or prominent classes are few, a witness does: samples that pass the network once
    more, with the gate as it is not. Three signs are weighed (``worth``): how far classes stand out
    with the batch's statistics, how few of them stored statistics show, as far as both predictions
    agree beyond chance (Cohen's kappa), and which are the surer. An open gate's witness has the
    source's weights, and if a few samples speak against the gate, more are heard; unless they are
    plain, two witnesses in a row have to say that it closes.
    While output rules before this one find order in the predictions it does not open, and where
    they leave few classes it closes at once. A batch that looks different from the one before is
    put down to a change of domain, once. The batch that moves the gate is predicted again. No sign
    opens it for the classes that a batch's statistics show, which a batch of one class scatters;
    so the gate can always close and open again.

    Args:
        stored_samples: A batch of this many samples weighs as much as the stored statistics.
        witness_every: One sample in so many passes the network again, at most.
    """

    stored_samples: float = 6.0
    witness_every: int = 16

    tells_of_stream = True
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
            "prominence": zero.clone(),
            "classes": torch.zeros(RING_SAMPLES, device=start.device),
            "counted": zero.clone(),
            "coverage": zero.clone(),
            "agreement": zero.clone(),
            "less_sure": zero.clone(),
            "credit": zero + RING_SAMPLES,
            "excuses": zero + EXCUSES,
            "second_looks": zero.clone(),
            "looks": torch.zeros(2, NUM_LOOKS, device=start.device),
            "looks_counted": zero.clone(),
            "early_share": zero + early.EARLY_SHARE,
            "doubted": zero.clone(),
            "worth": zero.clone(),
        }

    def norm(self, policy: NormPolicy, samples: int, memory: Tensors) -> NormPolicy:
        if not memory or not policy.couples_samples:
            return policy
        # a policy that keeps statistics weighs batches against the stream by itself
        size = samples**2 / (samples**2 + self.stored_samples**2)
        weighed = policy.batch_weight * (1.0 if policy.keep_weight else size)
        return _gated(replace(policy, batch_weight=weighed), bool(memory["open"]), memory)

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        if not memory or not step.policy.couples_samples:
            return logits
        known = memory["prominence"] if memory["counted"] else 0.0
        share = min(1.0, len(logits) / FEWEST_SAMPLES)
        memory["prominence"].fill_((1 - share) * known + share * prominence(step.logits))
        latest = torch.cat([logits.argmax(1).to(memory["classes"]), memory["classes"]])
        memory["classes"].copy_(latest[:RING_SAMPLES])
        memory["counted"].add_(len(logits)).clamp_(max=RING_SAMPLES)
        memory["credit"].add_(len(logits) / self.witness_every)
        changed, was_open = _looks_change(step.inputs, memory), bool(memory["open"])
        other = _gated(step.policy, not was_open, memory)
        if was_open:
            is_open = self._stays_open(logits, step, other, changed, memory)
            memory["second_looks"].fill_(SECOND_LOOKS)
        else:
            is_open = self._opens(logits, step, other, changed, memory)
            memory["doubted"].zero_()
        memory["credit"].clamp_(max=float(RING_SAMPLES))
        if is_open == was_open:
            return logits
        shown = self._again(logits, step, other)
        memory["open"].fill_(is_open)
        return shown

    def _stays_open(
        self, logits: Tensor, step: Step, other: NormPolicy, changed: bool, memory: Tensors
    ) -> bool:
        if coverage(logits.argmax(1), logits.shape[1]) < FEW_CLASSES:  # the prior found few
            return False
        prominent = bool(memory["prominence"] >= (PROMINENT if memory["doubted"] else SCATTERED))
        if prominent:
            memory["excuses"].fill_(EXCUSES)
            if _covered(logits, memory) >= UNEVEN:
                memory["doubted"].zero_()
                return True
        elif changed and memory["excuses"] > 0:
            memory["excuses"].sub_(1)
            return True
        doubted, samples = memory["doubted"].clone(), WITNESS_SAMPLES
        if memory["credit"] < -DOUBT_DEBT and not doubted:
            return True
        found = self._heard(step, other, samples, memory)
        if found < CLOSES and len(logits) > samples:  # few samples are not enough to close it
            found = self._heard(step, other, RING_SAMPLES, memory)
        if memory["coverage"] >= PLAINLY:  # a closed gate would open
            found = max(found, CLOSES)
        memory["doubted"].fill_(found < CLOSES)
        return found >= CLOSES or (found >= NO_DOUBT and not doubted)

    def _heard(self, step: Step, other: NormPolicy, samples: int, memory: Tensors) -> float:
        """What the batch's statistics are worth by an open gate's witness."""
        # by the source's weights: those that learned with batches' statistics may have lost what
        # stored ones show
        stored = self._witness(step, other, samples, memory, {})
        memory["coverage"].fill_(coverage(stored.argmax(1), stored.shape[1]))
        stands_out = float(memory["prominence"])
        return _see_worth(step.logits[: len(stored)], stored, stands_out, memory)

    def _opens(
        self, logits: Tensor, step: Step, other: NormPolicy, changed: bool, memory: Tensors
    ) -> bool:
        memory["coverage"].fill_(_covered(logits, memory))
        corrected = (logits.argmax(1) != step.logits.argmax(1)).float().mean()
        if memory["counted"] < FEWEST_SAMPLES or corrected > CORRECTED:
            return False
        prominent = bool(memory["prominence"] >= SCATTERED)
        if memory["coverage"] >= (MANY if prominent else PLAINLY):
            memory["worth"].clamp_(min=OPENS)
            return True
        urgent = changed or memory["second_looks"] > 0 or memory["coverage"] >= URGENT
        if memory["credit"] < (-MOST_DEBT if urgent else min(RING_SAMPLES, len(logits))):
            return False
        memory["second_looks"].sub_(1).clamp_(min=0.0)
        batch = self._witness(step, other, RING_SAMPLES, memory)
        return _see_worth(batch, step.logits[: len(batch)], prominence(batch), memory) >= OPENS

    def _witness(
        self,
        step: Step,
        other: NormPolicy,
        samples: int,
        memory: Tensors,
        params: Tensors | None = None,
    ) -> Tensor:
        """Logits of some samples with the gate as it is not."""
        memory["credit"].sub_(min(samples, len(step.inputs)))
        return step.forward(step.inputs[:samples], params, policy=other).logits

    def _again(self, logits: Tensor, step: Step, other: NormPolicy) -> Tensor:
        """The batch that moves the gate, predicted as the batches after it will be.

        At the temperature of the rules before this one; where these have changed classes, what
        they found stays.
        """
        before, after = (part - part.mean(1, keepdim=True) for part in (step.logits, logits))
        if not torch.equal(before.argmax(1), after.argmax(1)):
            return logits
        scale = (before * after).sum() / before.square().sum().clamp(min=1e-12)
        return scale * step.forward(step.inputs, policy=other).logits

    def report(self, memory: Tensors) -> Mapping[str, float]:
        if not memory:
            return {}
        return {
            "late_share": float(memory["open"]),
            "prominence": float(memory["prominence"]),
            "worth": float(memory["worth"]),
            "class_coverage": float(memory["coverage"]),
            "agreement": float(memory["agreement"]),
            "less_sure": float(memory["less_sure"]),
        }


def _see_worth(batch: Tensor, stored: Tensor, stands_out: float, memory: Tensors) -> float:
    """What a batch's statistics are worth; few samples leave most of what earlier ones showed.

    Args:
        batch: Logits with the batch's statistics.
        stored: Logits of the same samples with stored ones, whose coverage is known.
        stands_out: Prominence with the batch's.
    """
    memory["agreement"].fill_(kappa(batch.argmax(1), stored.argmax(1)))
    memory["less_sure"].fill_(shape_entropy(batch) - shape_entropy(stored))
    signs = (float(memory[name]) for name in ("coverage", "agreement", "less_sure"))
    found = worth(stands_out, *signs)
    memory["worth"].lerp_(memory["worth"].new_tensor(found), min(1.0, len(batch) / WITNESS_SAMPLES))
    return float(memory["worth"])


def _covered(logits: Tensor, memory: Tensors) -> float:
    """Coverage of the latest predictions."""
    return coverage(memory["classes"][: int(memory["counted"])], logits.shape[1])


def _looks_change(inputs: Tensor, memory: Tensors) -> bool:
    """Whether these inputs look different from those before them, which they take the place of."""
    before = Looks(float(memory["looks_counted"]), *memory["looks"].cpu().numpy().copy())
    now = Looks.of(looks_of(inputs))
    memory["looks"].copy_(torch.from_numpy(np.stack([now.mean, now.variance])))
    memory["looks_counted"].fill_(now.samples)
    if now.samples < FEWEST_LOOKS:
        return False
    known = before if before.samples >= FEWEST_LOOKS else now
    early.see_looks(known, now, memory)
    return distance(known, now) > 1


def _gated(policy: NormPolicy, is_open: bool, memory: Tensors) -> NormPolicy:
    return replace(
        policy,
        early_share=1.0 if is_open else float(memory["early_share"]),
        late_share=float(is_open),
        differentiable=False,  # constants for the gradient, which is as good and much faster
    )
