"""Settings of the guard, and what it remembers of a stream. The rule is in docs/guard.md."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard import betting, glance
from trimtab.core.guard.look import COLUMNS
from trimtab.core.guard.unusual import FACTS
from trimtab.core.ranges import check_given, check_positive, check_shares, check_value
from trimtab.core.settings_text import described

NUMBERS = (
    "fallen_back",
    "spent",
    "price",
    "looks",
    "looked_at",
    "glance_passes",
    "batches",
    "said",
    "recent_samples",
    "trial_batches",
    "trial_samples",
    "trial_needed",
    "trial_every",
    "since_blessed",
    "update_size",
    "unlike",
    "alarms",
    "rollbacks",
    "returns",
    "scaled",
    "skipped",
)
"""What is counted and remembered as one number each."""

VARYING = frozenset(
    {
        "ring",
        "habit",
        "usual_classes",
        "usual_own",
        "usual_said",
        "lately",
        "lately_logits",
        "block",
        "recent_classes",
    }
)
"""Names of evidence whose first dimension changes along a stream."""


@dataclass(frozen=True)
class Guard:
    """Watches that adapted predictions are no worse than the source model's, and acts if they are.

    Args:
        acts: Whether harm has consequences; otherwise health is watched, and nothing else.
        false_alarms: Most alarms per look to expect while harm is at most ``allowed_harm``.
        allowed_harm: Estimated loss of accuracy against the source that is no harm yet, a share.
        cost: Passes that looks take, as a share of all passes of the stream.
        view: Makes the view that shows how stable predictions are; by default images are mirrored,
            and other inputs are compared without a view. For segmentation, one that leaves pixels
            where they are.
    """

    acts: bool = True
    false_alarms: float = 3e-3
    allowed_harm: float = 0.02
    cost: float = 0.04
    view: Callable[..., Tensor] | None = None

    def __post_init__(self) -> None:
        check_given(self, "acts", "false_alarms", "allowed_harm", "cost")
        check_positive(self, "false_alarms", "cost")
        check_shares(self, "false_alarms", "allowed_harm", "cost")
        check_value("acts", self.acts, lambda v: isinstance(v, bool), "be True or False")
        check_value("view", self.view, callable, "be a function of inputs")

    @property
    def alarm(self) -> float:
        """Evidence of harm that raises an alarm, in nats."""
        return math.log(1 / self.false_alarms)

    @property
    def words(self) -> str:
        """The settings as text, the same for equal settings."""
        view = "NoneType" if self.view is None else described(self.view)
        numbers = f"false_alarms={self.false_alarms}, allowed_harm={self.allowed_harm}"
        return f"Guard(acts={self.acts}, {numbers}, cost={self.cost}, view={view})"


def chosen(guard: Guard | bool | None) -> Guard | None:
    """The guard that an argument means: True is one with nothing set."""
    if guard is None or isinstance(guard, (bool, Guard)):
        return Guard() if guard is True else guard or None
    raise ValueError(f"guard must be True, False or a trimtab.Guard, got {guard!r}")


FIRST_TRIAL = 192.0
"""Samples on which the adapted model has to prove itself at first."""


def new_evidence(guard: Guard | None, only_corrects: bool, may_drift: bool = True) -> Tensors:
    """What the guard remembers at the beginning of a stream; its tensors are never written into.

    Args:
        guard: None has nothing to remember.
        only_corrects: Whether predictions are the source's, corrected afterwards. Then the source
            predicts until the corrections have proved themselves.
        may_drift: Whether it is bet on classes that the method favours in the long run.
    """
    if guard is None:
        return {}
    zero = torch.zeros((), dtype=torch.float64)
    one = torch.ones_like(zero)
    none = torch.zeros(0, dtype=torch.float32)  # whatever torch's default is, as rows are
    trial = {"fallen_back": one, "trial_every": one, "trial_needed": FIRST_TRIAL * one}
    return {
        "ring": none.new_zeros(0, len(COLUMNS)),
        "habit": none,
        "usual_classes": none,
        "usual_own": none,
        "usual_said": none,
        "lately": none,
        "order": zero.new_zeros(2),
        "lately_logits": none,
        "prominence": zero.new_zeros(2),
        "halfway": zero.new_zeros(2),
        "block": none,
        "recent_classes": zero.new_zeros(0),
        "correlation": zero.new_zeros(2),
        "runs": zero.new_zeros(2),
        "apart": zero.new_zeros(glance.SIGNS),
        "last_look": zero.new_zeros(glance.SIGNS),
        "wealth": betting.new_wealth(may_drift),
        "usual_mean": zero.new_zeros(len(FACTS)),
        "usual_variance": zero.new_zeros(len(FACTS)),
        **dict.fromkeys(NUMBERS, zero),
        **(trial if only_corrects and guard.acts else {}),
    }
