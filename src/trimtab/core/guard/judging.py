"""Sequential comparison of the adapted with the source model: when to look, and what it shows."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core.answer import Answer
from trimtab.core.backbone import Tensors
from trimtab.core.guard import (
    betting,
    concentration,
    correlation,
    doubt,
    erased,
    glance,
    merit,
    order,
    runs,
    unusual,
)
from trimtab.core.guard.look import COLUMNS, Look, remembered
from trimtab.core.guard.pixel_rows import one_of_each
from trimtab.core.guard.shadow import LOOK_SAMPLES, Shadow
from trimtab.core.pace import passes
from trimtab.core.state import StreamState

ATTENTION, SUSPICION = 0.75, 1.5
"""Evidence of harm, in nats, from which on batches are looked at, and from which on the source
answers these and updates are scaled down."""
OVERDRAFT, ORDER_OVERDRAFT, CALL_OVERDRAFT = 12, 6, 2
"""Looks that evidence, classes in runs or a drift, or the mere call for one, may take before the
budget allows them."""
LOOK_PRICE = 3.0
"""Passes of a sample that is looked at: the source's, and one view by each model."""
FIRST_SAMPLES = 192
"""At the beginning so many samples are looked at, and that is not counted."""
OWN_CLASS, SOURCE_CLASS = COLUMNS.index("class"), COLUMNS.index("source_class")
DRIFTING = 0.7
"""Log wealth of a bet on drift, in nats, from which on it is looked into."""
HELP = 0.02
"""Least gain of accuracy, a share, that corrections without memory have to show in a batch."""
GLANCE_SHARE, GLANCE_CREDIT = 0.75, 96.0
"""Of all passes of looks that glances take; passes that surprises may take before."""


@dataclass(frozen=True)
class Judging(Shadow):
    """The looks of a guard. What they show is kept as evidence."""

    def judged(
        self,
        before: StreamState,
        after: StreamState,
        inputs: Tensor,
        answer: Answer,
    ) -> tuple[Tensors, Tensor, bool]:
        """The evidence once a batch is predicted, the logits to answer with, and whether they are
        the source's.

        From suspicion on the source answers what was looked at, until the adapted model is cleared
        or there is an alarm. Corrections of outputs that remember nothing have no merits but those
        in the batch itself, and answer it only where they show that they help. Where the source's
        logits cost nothing, every batch is compared.
        """
        evidence, surprise = unusual.noted(before.guard, unusual.facts(inputs, answer.before))
        evidence, answer = self.followed(evidence, before, answer)
        source, logits = answer.source, answer.logits
        if source is None and self._is_glance_due(evidence, before, len(inputs), surprise.inputs):
            evidence = self._glanced(evidence, before, after, inputs, answer, surprise.inputs)
        odd = self._is_odd(evidence, logits, surprise.unsure)
        if self._is_due(evidence, before, len(inputs), odd):
            look, cost = self.look(before, after, inputs, answer, evidence)
            evidence = self.weighed(evidence, look, cost)
        elif source is not None:
            look = self.plain_look(before, answer, source)
            evidence, _ = self._noted(evidence, look, cost=0)
        else:
            return evidence, logits, False
        suspicious = betting.evidence(evidence["wealth"]) >= min(SUSPICION, self.guard.alarm)
        if source is not None and not any(after.memory.values()):
            harms = evidence["ring"][: len(look.source), 0]
            suspicious = suspicious or not self.is_cleared(harms, -HELP)
        if not (suspicious and self.guard.acts):
            return evidence, logits, False
        known = look.source if source is None else source
        return evidence, self.rest_by_source(before, after, inputs, known), True

    def followed(
        self, evidence: Tensors, state: StreamState, answer: Answer
    ) -> tuple[Tensors, Answer]:
        """The evidence once the order of classes is followed through a batch that was predicted,
        and the answer: rules that assume runs have their say where there are some.

        But for methods that learn this order themselves, and answer by it.
        """
        attempt = self.attempt(state)
        method = attempt.method
        if method.tells_of_stream:
            return evidence, answer
        if method.may_drift and method.shifts_classes:
            evidence = correlation.arrived(evidence, answer.before)
        if answer.may_assume_runs:  # and no batch norms, so that nothing erases runs
            return evidence, answer.assuming(runs.are_seen(evidence) or not self.guard.acts)
        coupled = attempt.backbone.has_batch_norm and not method.only_corrects
        return arrived(evidence, answer.logits, coupled), answer

    def learns_the_stream(self, state: StreamState) -> bool:
        """Whether components learn the order of the stream."""
        return bool(self.attempt(state).method.tells_of_stream)

    # ---------------------------------------------------------------- when

    def _is_odd(self, evidence: Tensors, logits: Tensor, unsure: bool) -> int:
        """How many looks may be taken on credit, because something is odd; 0 if nothing is."""
        nats = betting.evidence(evidence["wealth"])
        if nats >= self.guard.alarm:
            return sys.maxsize
        if nats >= ATTENTION or float(evidence["looked_at"]) < FIRST_SAMPLES:
            return OVERDRAFT
        if betting.strongest(evidence["wealth"], betting.DRIFT) >= DRIFTING:
            return ORDER_OVERDRAFT
        in_runs = order.is_seen(evidence) or erased.suspicion(evidence, logits.shape[1]) > 0
        if in_runs and order.is_plainer_to_source(evidence):
            return ORDER_OVERDRAFT
        called = unsure or float(evidence["apart"].sum()) >= glance.CALL
        called = called or concentration.shows(
            one_of_each(logits, int(evidence["looked_at"])), evidence["ring"]
        )
        return CALL_OVERDRAFT if called else 0

    def _is_due(self, evidence: Tensors, state: StreamState, samples: int, overdraft: int) -> bool:
        """Whether to look: as often as the budget allows, and sooner where something is odd."""
        dear = max(float(evidence["price"]), LOOK_PRICE)
        saved = self.guard.cost * passes(state.counters) - float(evidence["spent"])
        return saved + overdraft * LOOK_SAMPLES * dear >= min(samples, LOOK_SAMPLES) * dear

    def _is_glance_due(
        self, evidence: Tensors, state: StreamState, samples: int, surprising: bool
    ) -> bool:
        """Whether to glance: now and then, and where something is surprising."""
        if float(evidence["looked_at"]) < FIRST_SAMPLES:
            return False
        allowed = GLANCE_SHARE * self.guard.cost * passes(state.counters)
        price = min(samples, glance.samples(surprising)) + glance.SMALL_PASS
        credit = GLANCE_CREDIT if surprising else 0.0
        return float(evidence["glance_passes"]) + price <= allowed + credit

    # ---------------------------------------------------------------- what

    def _glanced(
        self,
        evidence: Tensors,
        before: StreamState,
        after: StreamState,
        inputs: Tensor,
        answer: Answer,
        surprising: bool,
    ) -> Tensors:
        """The evidence once both models' predictions of a few samples were compared."""
        count = glance.samples(surprising)
        shown = glance.places(len(inputs), int(evidence["batches"]), count)
        source = self.passed(before, after, inputs[shown])
        look = self.plain_look(before, answer, source, shown)
        after_it, rows = self._noted(evidence, look, len(source))
        sums, ring, last = evidence["apart"], evidence["ring"], evidence["last_look"]
        return after_it | {
            "glance_passes": evidence["glance_passes"] + len(source) + glance.SMALL_PASS,
            "apart": glance.added_up(sums, rows, ring, last),
        }

    def weighed(self, evidence: Tensors, look: Look, cost: int) -> Tensors:
        """The evidence once a look is taken in."""
        evidence, rows = self._noted(evidence, look, cost)
        if not self.is_cleared(rows[:, 0], self.guard.allowed_harm):
            return evidence  # glances that called for it go on to do so
        shown = glance.signs(rows)
        return evidence | {"last_look": shown, "apart": torch.zeros_like(shown)}

    def is_cleared(self, harms: Tensor, allowed: float) -> bool:
        """Whether harm, shape (samples,), is at most what is allowed, by one standard error."""
        error = float(harms.std(correction=0)) / math.sqrt(len(harms))
        return float(harms.mean()) + error <= allowed

    def _order(self, evidence: Tensors, look: Look) -> merit.Order:
        """What is known of classes that come in runs."""
        gone = erased.certainty(evidence, look.classes)
        veiled = doubt.veiled(look, evidence["ring"]) if gone else 0.0
        return replace(order.known(evidence), erased=gone, veiled=veiled)

    def _noted(self, evidence: Tensors, look: Look, cost: int) -> tuple[Tensors, Tensor]:
        """The evidence with a look's or a glance's samples, and their rows."""
        allowed, ring, wealth = self.guard.allowed_harm, evidence["ring"], evidence["wealth"]
        looked_at = float(evidence["looked_at"])
        evidence = erased.compared(order.compared(evidence, look), look)
        known_order = self._order(evidence, look)
        sure = max(known_order.sure, known_order.erased) >= 1
        look = replace(look, in_runs=sure and not look.agreed)
        doubts = doubt.doubts(look, ring, evidence["habit"])
        usual = evidence["usual_classes"]
        certain = doubt.certainty(look, ring)
        rows = look.rows(ring, int(looked_at), doubts, usual, certain, known_order)
        if look.compared:
            wealth = betting.after(wealth, betting.STABILITY, rows[:, 0], allowed)
        flow = concentration.flows(rows, ring, look.source.shape[1])
        wealth = betting.after(wealth, betting.CONCENTRATION, flow, allowed)
        if look.may_drift and looked_at >= FIRST_SAMPLES:
            on_purpose = look.shifts_classes and correlation.is_seen(evidence)
            drift = concentration.drift(rows, ring, evidence["usual_own"], usual, on_purpose)
            wealth = betting.after(wealth, betting.DRIFT, drift, allowed)
        known = {
            "ring": remembered(rows, ring),
            "wealth": wealth,
            "habit": doubt.habit(look, evidence["habit"]),
            **{
                name: merit.usual_classes(
                    evidence[name], rows[:, place].long(), look.classes, looked_at
                )
                for name, place in (("usual_classes", SOURCE_CLASS), ("usual_own", OWN_CLASS))
            },
            "looks": evidence["looks"] + 1,
            "spent": evidence["spent"] + (cost if looked_at >= FIRST_SAMPLES else 0),
            "price": evidence["price"].clamp(min=cost / len(rows)),
            "looked_at": evidence["looked_at"] + len(rows),
            "since_blessed": evidence["since_blessed"] + len(rows),
        }
        return evidence | known, rows


def arrived(evidence: Tensors, logits: Tensor, coupled: bool) -> Tensors:
    """The evidence once the adapted model has predicted a batch, of shape (samples, classes).

    Args:
        coupled: Whether batch norms let samples of a batch depend on each other.
    """
    evidence = erased.arrived(evidence, logits) if coupled else evidence
    return order.arrived(evidence, logits)
