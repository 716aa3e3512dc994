"""Adaptive and selective reset on collapse of predictions (ASR, ICLR 2026, arXiv:2603.03796)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule, Penalty, Start, Step, Weighting
from trimtab.core.ranges import check_not_negative, check_positive, check_shares
from trimtab.functional import entropy, full_copy

FISHER, MEAN, SEEN_FISHER, SEEN_MEAN = "fisher/", "mean/", "seen_fisher/", "seen_mean/"
"""Prefixes of what is known of each parameter: over resets, and since the last one."""


@dataclass(frozen=True)
class SelectiveReset(Weighting, Penalty, ParameterRule):
    """Set later layers back to the source when predictions collapse, and return to what mattered.

    For a batch, H is the entropy of softmax(mean of logits), and phi the share of samples that the
    source model classifies differently. Predictions collapse where H falls below a threshold, which
    starts at ln(first_share C) and otherwise follows H with momentum 1 - follow (1 - phi). After a
    collapse the first max(0, keep - steepness (threshold - H)) of the parameters, counted from the
    input, stay; the others, the optimiser and the threshold go back to the start. Each loss has the
    price weight phi^2 sum F (theta - theta_mean)^2: F are squared gradients and theta_mean the
    parameters, both averaged between resets, and over resets with momentum 0.9.

    The same test watches the source model, which cannot collapse: while its predictions are as
    concentrated, the stream holds few classes, and nothing is reset. What is usual for it follows
    with momentum ``usual_momentum``, so that a domain in which it favours a few classes for good
    does not switch the test off for ever.

    Args:
        first_share: Share of the classes that predictions have to show at the start.
        follow: Weight of a batch's H in the threshold where no prediction differs from the
            source's.
        keep: Largest share of the parameters that a reset leaves alone.
        steepness: By how much that share falls for each nat below the threshold.
        weight: Factor on the price.
        heed_source: Whether the source model's concentration excuses the adapted model's; without
            it, this is the authors' rule.
        usual_momentum: Share of the source's threshold that stays while it is excused.
    """

    first_share: float = 0.5
    follow: float = 0.15
    keep: float = 0.5
    steepness: float = 20.0
    weight: float = 5.0
    heed_source: bool = True
    usual_momentum: float = 0.99

    not_dense = "tells collapse by the classes of a batch, and an image has many"

    def __post_init__(self) -> None:
        check_shares(self, "first_share", "follow", "keep", "usual_momentum")
        check_positive(self, "first_share")
        check_not_negative(self, "steepness", "weight")

    def new_memory(self, start: Start) -> Tensors:
        first = torch.tensor(math.log(self.first_share * start.num_classes), device=start.device)
        zero = torch.zeros_like(first)
        known = {
            prefix + name: torch.zeros_like(full_copy(value))
            for prefix in (FISHER, MEAN, SEEN_FISHER, SEEN_MEAN)
            for name, value in start.source.items()
        }
        return known | {
            "first": first,
            "threshold": first.clone(),
            "source_threshold": first.clone(),
            "below": zero.clone(),
            "differing": zero.clone(),
            "seen": zero.clone(),
            "resets": zero.clone(),
            "is_restarted": zero.clone(),
        }

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        """All count alike; this is where an update's samples are seen before it."""
        source = step.forward_source().logits
        memory["differing"].fill_((source.argmax(1) != step.logits.argmax(1)).float().mean())
        found, excuse = spread(step.logits), spread(source)
        collapsed = self._follow("threshold", found, memory)
        excused = self._follow("source_threshold", excuse, memory) and self.heed_source
        if excused:
            memory["source_threshold"].lerp_(excuse.to(memory["first"]), 1 - self.usual_momentum)
        below = memory["threshold"] - found
        memory["below"].copy_(below if collapsed and not excused else torch.full_like(below, -1.0))
        return torch.ones_like(step.logits[:, 0])

    def _follow(self, name: str, found: Tensor, memory: Tensors) -> bool:
        """Whether predictions are more concentrated than a threshold, which else follows them."""
        if bool(found < memory[name]):
            return True
        weight = self.follow * (1 - memory["differing"])
        memory[name].lerp_(found.to(memory[name]), weight)
        return False

    def penalty(self, params: Tensors, source: Tensors, memory: Tensors) -> Tensor:
        prices = [
            (memory[FISHER + name] * (param - memory[MEAN + name]).square()).sum()
            for name, param in params.items()
        ]
        return self.weight * memory["differing"].square() * torch.stack(prices).sum()

    def see_gradients(self, params: Tensors, gradients: Tensors, memory: Tensors) -> None:
        """Add up squared gradients of the loss without the price, and the parameters."""
        price = 2 * self.weight * memory["differing"].square()
        for name, param in params.items():
            if name in gradients:
                own = price * memory[FISHER + name] * (param - memory[MEAN + name])
                memory[SEEN_FISHER + name] += (gradients[name] - own).square()
            memory[SEEN_MEAN + name] += param
        memory["seen"] += 1

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        memory["is_restarted"].fill_(memory["below"] >= 0)
        if not memory["is_restarted"]:
            return
        self._remember(params, memory)
        share = max(0.0, self.keep - self.steepness * float(memory["below"]))
        for place, (name, param) in enumerate(params.items()):
            if place >= share * len(params):
                param.copy_(source[name])
        memory["resets"] += 1
        memory["below"].fill_(-1)
        memory["threshold"].copy_(memory["first"])

    def _remember(self, params: Tensors, memory: Tensors) -> None:
        """Make what was seen since the last reset part of what is known over resets."""
        new = 0.1 if memory["resets"] else 1.0
        for name in params:
            for known, seen in ((FISHER, SEEN_FISHER), (MEAN, SEEN_MEAN)):
                memory[known + name].lerp_(memory[seen + name] / memory["seen"].clamp(min=1), new)
                memory[seen + name].zero_()
        memory["seen"].zero_()

    def restarts_optimizer(self, memory: Tensors) -> bool:
        return bool(memory["is_restarted"])

    def report(self, memory: Tensors) -> Mapping[str, float]:
        names = ("resets", "threshold", "source_threshold", "differing")
        return {name: float(memory[name]) for name in names}


def spread(logits: Tensor) -> Tensor:
    """Entropy of softmax(mean of logits), in nats: small where predictions are concentrated."""
    return entropy(logits.mean(0, keepdim=True))[0]
