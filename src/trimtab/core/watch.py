"""A guarded step: predict and learn, look at the source beside it now and then, and decide."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core import betting, concentration, doubt, unusual
from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule
from trimtab.core.guard import FIRST_TRIAL
from trimtab.core.health import has_looked, length
from trimtab.core.look import Look, remembered
from trimtab.core.pace import passes
from trimtab.core.pixel_rows import one_of_each
from trimtab.core.shadow import LOOK_SAMPLES, Shadow
from trimtab.core.state import StreamState

LOG = logging.getLogger("trimtab")

SUSPICION = 1.5
"""Evidence of harm from which on batches are looked at and updates are scaled down, in nats."""
SURPRISE = 4.0
"""Deviations by which a batch is unusual, so that it is looked at."""
OVERDRAFT, SURPRISE_OVERDRAFT = 8, 2
"""Looks that suspicion, or a mere surprise, may take before the budget allows them."""
THOROUGH_EVERY = 4
"""One regular look in so many takes views; the others pass the source model alone."""
LOOK_PRICE = 3.0
"""Passes of a sample that is looked at: the source's, and one view by each model."""
FIRST_SAMPLES, FIRST_LOOKS = 192, 3
"""At the beginning so many samples are looked at, and the budget gives so many looks for that."""
TRIAL_EVERY, RAREST_TRIAL = 4.0, 32.0
"""While the source predicts, one batch in so many is given to the adapted model too, half as many
after each trial that fails."""
LONGEST_TRIAL = 4096.0
"""Samples on which the adapted model has to prove itself, at most: twice as many after each alarm,
and half as many after each blessing."""
BLESS_SAMPLES = 128.0
"""Samples looked at, without suspicion, after which a state is blessed."""
BLESSED_BELOW = 0.5
"""Evidence of harm, in nats."""


@dataclass(frozen=True)
class Watch(Shadow):
    """The guard of one stream at work."""

    def step(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, Tensor]:
        """The state after a batch and its logits, under guard."""
        if state.guard["fallen_back"]:
            return self._on_trial(state, inputs)
        after, parts = self.learn(state, inputs)
        logits = torch.cat(parts)
        after.blessed = state.blessed  # a method's own reset does not forget it
        after.guard, by_source = self._judged(state, after, inputs, logits)
        if by_source is not None:
            return self._fallen_back(after), by_source
        return self._kept(state, after), logits

    def foresee(self, state: StreamState, inputs: Tensor) -> Tensor:
        """The logits that ``step`` would return; the state stays as it is."""
        attempt = self.attempt(state)
        if state.guard["fallen_back"]:
            return attempt.by_the_source(inputs)
        logits = attempt.soundly(inputs, foresee=True)
        _, by_source = self._judged(state, attempt.state, inputs, logits)
        return logits if by_source is None else by_source

    # ---------------------------------------------------------------- looking

    def _judged(
        self, before: StreamState, after: StreamState, inputs: Tensor, logits: Tensor
    ) -> tuple[Tensors, Tensor | None]:
        """The evidence once a batch is predicted; the source's logits where that is an alarm."""
        evidence, off = unusual.noted(before.guard, unusual.facts(inputs, logits))
        odd = self._is_odd(evidence, off, logits)
        thorough = bool(odd) or float(evidence["looks"]) % THOROUGH_EVERY == 0
        if not self._is_due(evidence, before, len(inputs), thorough, odd):
            return evidence, None
        look, cost = self.look(before, after, inputs, logits, thorough=thorough)
        evidence = self.weighed(evidence, look, cost)
        harmful = betting.evidence(evidence["wealth"]) >= self.guard.alarm
        if not (harmful and self.guard.acts):
            return evidence, None
        return evidence, self.rest_by_source(before, after, inputs, look.source)

    def _is_odd(self, evidence: Tensors, off: float, logits: Tensor) -> int:
        """How many looks may be taken on credit, because something is odd; 0 if nothing is."""
        suspicious = betting.evidence(evidence["wealth"]) >= SUSPICION
        if suspicious or float(evidence["looked_at"]) < FIRST_SAMPLES:
            return OVERDRAFT
        surprising = off > SURPRISE or concentration.shows(
            one_of_each(logits, int(evidence["looked_at"])), evidence["ring"]
        )
        return SURPRISE_OVERDRAFT if surprising else 0

    def _is_due(
        self, evidence: Tensors, state: StreamState, samples: int, thorough: bool, overdraft: int
    ) -> bool:
        """Whether to look: as often as the budget allows, and sooner where something is odd."""
        dear = max(float(evidence["price"]), LOOK_PRICE)
        lent = FIRST_LOOKS * LOOK_SAMPLES * dear
        credit = lent + self.guard.cost * passes(state.counters) - float(evidence["spent"])
        if overdraft:
            return credit >= -overdraft * LOOK_SAMPLES * dear
        return credit >= min(samples, LOOK_SAMPLES) * (dear if thorough else 1.0)

    def weighed(self, evidence: Tensors, look: Look, cost: int) -> Tensors:
        """The evidence once a look is taken in."""
        allowed, ring, wealth = self.guard.allowed_harm, evidence["ring"], evidence["wealth"]
        doubts = doubt.doubts(look, ring, evidence["habit"])
        rows = look.rows(ring, int(evidence["looked_at"]), doubts)
        if look.compared:
            wealth = betting.after(wealth, betting.STABILITY, rows[:, 0], allowed)
        flow = concentration.flows(rows, ring, look.source.shape[1])
        wealth = betting.after(wealth, betting.CONCENTRATION, flow, allowed)
        return evidence | {
            "ring": remembered(rows, ring),
            "wealth": wealth,
            "habit": doubt.habit(look, evidence["habit"]),
            "looks": evidence["looks"] + 1,
            "spent": evidence["spent"] + cost,
            "price": evidence["price"].clamp(min=cost / len(rows)),
            "looked_at": evidence["looked_at"] + len(rows),
            "since_blessed": evidence["since_blessed"] + len(rows),
        }

    # ---------------------------------------------------------------- deciding

    def _kept(self, before: StreamState, after: StreamState) -> StreamState:
        """Keep an update: the more evidence of harm, the less of it. Bless what is well."""
        evidence = betting.evidence(after.guard["wealth"])
        if after.counters.updates > before.counters.updates:
            doubt = (evidence - SUSPICION) / (self.guard.alarm - SUSPICION)
            share = min(max(1 - 2 * doubt, 0.0), 1.0) if self.guard.acts else 1.0
            self._scale_update(before, after, share)
        looked_at = float(after.guard["since_blessed"])
        worth = bool(after.params or after.memory or after.statistics)  # something to go back to
        if worth and looked_at >= BLESS_SAMPLES and evidence < BLESSED_BELOW and self.guard.acts:
            after.blessed = replace(after.clone(), blessed=None, guard={})
            needed = after.guard["trial_needed"] / 2
            after.guard |= {"since_blessed": torch.zeros_like(needed), "trial_needed": needed}
        return after

    @torch.no_grad()
    def _scale_update(self, before: StreamState, after: StreamState, share: float) -> None:
        """Keep this share of an update; where it was looked at, remember how large it was."""
        if has_looked(before, after):
            size = torch.full_like(after.guard["update_size"], length(after.params, before.params))
            after.guard |= {"update_size": size}
        if share < 1:
            after.params = between(before.params, after.params, share)
            attempt = self.attempt(after)
            for rule in attempt.playing(ParameterRule):
                rule.resume(after.params, after.memory[rule.name])
            counted = "scaled" if share else "skipped"
            after.guard |= {counted: after.guard[counted] + 1}

    def _fallen_back(self, after: StreamState) -> StreamState:
        """Let the source predict; the adapted model goes back to a blessed state, or begins again.

        A second alarm without a blessing between them does not trust the blessed state either.
        """
        evidence, target = after.guard, after.blessed
        LOG.warning(
            "harm after %d samples (evidence %.1f nats): the source model predicts, and the "
            "adapted one goes back to %s",
            after.counters.samples,
            betting.evidence(evidence["wealth"]),
            "the beginning" if target is None else "its blessed state",
        )
        needed = (2 * evidence["trial_needed"]).clamp(FIRST_TRIAL, LONGEST_TRIAL)
        after = self.restored(after, target)
        after.blessed = None
        after.guard = evidence | {
            "fallen_back": torch.ones_like(needed),
            "alarms": evidence["alarms"] + 1,
            "rollbacks": evidence["rollbacks"] + float(target is not None),
            "trial_needed": needed,
            "trial_every": torch.full_like(needed, TRIAL_EVERY),
            "trial_batches": torch.zeros_like(needed),
            "trial_samples": torch.zeros_like(needed),
            "since_blessed": torch.zeros_like(needed),
            "wealth": betting.new_wealth(),
        }
        return after

    # ---------------------------------------------------------------- the way back

    def _on_trial(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, Tensor]:
        """The source predicts; now and then the adapted model shows what it would have said."""
        number = state.guard["trial_batches"]
        if number % state.guard["trial_every"]:
            after = state.draft()
            after.pace.arrive(len(inputs))
            logits = self.passed(state, after, inputs, by_source=True, paid=True)
            evidence, _ = unusual.noted(state.guard, unusual.facts(inputs, logits))
            after.guard = evidence | {"trial_batches": number + 1}
            return after, logits
        after, parts = self.learn(state, inputs)
        source = self.passed(state, after, inputs, by_source=True)
        after.blessed = state.blessed
        evidence, _ = unusual.noted(state.guard, unusual.facts(inputs, source))
        look, _ = self.look(state, after, inputs, torch.cat(parts), source)
        evidence = self.weighed(evidence, look, cost=0)  # passes that were saved pay for it
        after.guard = evidence | {
            "trial_batches": number + 1,
            "trial_samples": evidence["trial_samples"] + len(look.source),
            "wealth": betting.new_wealth(),
        }
        return self._verdict(after), source

    def _verdict(self, after: StreamState) -> StreamState:
        """Whether a trial is over, and how it ended: with a return, or with another beginning."""
        evidence = after.guard
        if evidence["trial_samples"] < evidence["trial_needed"]:
            return after
        harms = evidence["ring"][: int(evidence["trial_samples"]), 0]  # trials are thorough
        zero = torch.zeros_like(evidence["trial_samples"])
        doubt = float(harms.std()) / len(harms) ** 0.5
        if float(harms.mean()) + doubt > self.guard.allowed_harm:
            after = self.restored(after, None)
            rarer = (2 * evidence["trial_every"]).clamp(max=RAREST_TRIAL)
            after.guard = evidence | {"trial_samples": zero, "trial_every": rarer}
            return after
        LOG.info("the adapted model predicts again after %d samples", after.counters.samples)
        changed = {"fallen_back": zero, "trial_samples": zero, "returns": evidence["returns"] + 1}
        after.guard = evidence | changed
        return after


@torch.no_grad()
def between(before: Tensors, after: Tensors, share: float) -> Tensors:
    """Parameters this share of the way from one to the other, ready to be trained."""
    return {
        name: before[name].detach().lerp(p.detach(), share).requires_grad_()
        for name, p in after.items()
    }
