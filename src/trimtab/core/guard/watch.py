"""A guarded step: predict and learn, look at the source beside it now and then, and decide."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.core.answer import answer_of, joined, learned
from trimtab.core.backbone import Tensors
from trimtab.core.component import ParameterRule
from trimtab.core.guard import betting, unusual
from trimtab.core.guard.health import has_looked, length
from trimtab.core.guard.judging import SUSPICION, Judging
from trimtab.core.guard.settings import FIRST_TRIAL
from trimtab.core.guard.stuck import is_stuck
from trimtab.core.state import StreamState
from trimtab.core.window import Window

LOG = logging.getLogger("trimtab")

TRIAL_EVERY, RAREST_TRIAL = 3.0, 31.0
"""While the source predicts, one batch in so many is given to the adapted model too, about half as
many after each trial that fails; odd, so that of two kinds of batches in turns both are seen."""
LONGEST_TRIAL = 4096.0
"""Samples on which the adapted model has to prove itself, at most: twice as many after each alarm,
and half as many after each blessing."""
EARLIEST, LATEST = 0.5, 2.0
"""Where components learn the stream's order on trial it may end well at any batch between these
multiples of its samples, or sooner with evidence that adapting helps."""
BLESS_SAMPLES = 128.0
"""Samples looked at, without suspicion, after which a state is blessed."""
BLESSED_BELOW = 0.5
"""Evidence of harm, in nats."""


@dataclass(frozen=True)
class Watch(Judging):
    """The guard of one stream at work."""

    def step(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, Tensor]:
        """The state after a batch and its logits, under guard."""
        if self._is_stuck(state, inputs):
            return self._by_source(state, inputs)
        if state.guard["fallen_back"]:
            return self._on_trial(state, inputs)
        after, parts = learned(self.attempt, state, inputs)
        after.blessed = state.blessed  # a method's own reset does not forget it
        after.guard, logits, by_source = self.judged(state, after, inputs, joined(parts))
        harmful = by_source and betting.evidence(after.guard["wealth"]) >= self.guard.alarm
        return self._fallen_back(after) if harmful else self._kept(state, after), logits

    def foresee(self, state: StreamState, inputs: Tensor) -> Tensor:
        """The logits that ``step`` would return; the state stays as it is."""
        attempt, stuck = self.attempt(state), self._is_stuck(state, inputs)
        fallen_back = bool(state.guard["fallen_back"])
        tried = not fallen_back or (self._is_tried(state) and attempt.method.only_corrects)
        if stuck or not tried:
            return attempt.by_the_source(inputs)
        answer = answer_of(attempt, attempt.soundly(inputs, foresee=True))
        if not fallen_back:
            return self.judged(state, attempt.state, inputs, answer)[1]
        # The source's logits are those of the method's own pass, to the bit.
        return attempt.by_the_source(inputs) if answer.source is None else answer.source

    def _is_stuck(self, state: StreamState, inputs: Tensor) -> bool:
        """Whether batch norms would go by the statistics of a single frame."""
        if not (self.guard.acts and is_stuck(inputs)):
            return False
        attempt = self.attempt(state)
        return attempt.backbone.has_batch_norm and attempt.method.may_drift

    def _by_source(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, Tensor]:
        """The source predicts a batch, and nothing is learned from it."""
        after = state.draft()
        after.pace.arrive(len(inputs))
        logits = self.passed(state, after, inputs, paid=True)
        after.guard, _ = unusual.noted(state.guard, unusual.facts(inputs, logits))
        return after, logits

    # ---------------------------------------------------------------- deciding

    def _kept(self, before: StreamState, after: StreamState) -> StreamState:
        """Keep an update: the more evidence of harm, the less of it. Bless what is well."""
        evidence = betting.evidence(after.guard["wealth"])
        if after.counters.updates > before.counters.updates:
            self._scale_update(before, after, self._share(evidence))
        looked_at = float(after.guard["since_blessed"])
        worth = bool(after.params or after.memory or after.statistics)  # something to go back to
        if worth and looked_at >= BLESS_SAMPLES and evidence < BLESSED_BELOW and self.guard.acts:
            # Without what waits in a window: it will have been learned from by the way back.
            empty = Window(after.window.size)
            after.blessed = replace(after, blessed=None, guard={}, window=empty).clone()
            needed = after.guard["trial_needed"] / 2
            after.guard |= {"since_blessed": torch.zeros_like(needed), "trial_needed": needed}
        return after

    def _share(self, evidence: float) -> float:
        """How much of an update to keep: half way from suspicion to an alarm, nothing."""
        if evidence <= SUSPICION or not self.guard.acts:
            return 1.0  # also where an alarm asks for less than suspicion
        doubt = (evidence - SUSPICION) / (self.guard.alarm - SUSPICION)
        return max(1 - 2 * doubt, 0.0)

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
        every = 1.0 if self.learns_the_stream(after) else TRIAL_EVERY
        after = self.restored(after, target)
        after.blessed = None
        after.guard = evidence | {
            "fallen_back": torch.ones_like(needed),
            "alarms": evidence["alarms"] + 1,
            "rollbacks": evidence["rollbacks"] + float(target is not None),
            "trial_needed": needed,
            "trial_every": torch.full_like(needed, every),
            "trial_batches": torch.zeros_like(needed),
            "trial_samples": torch.zeros_like(needed),
            "since_blessed": torch.zeros_like(needed),
            "wealth": torch.zeros_like(evidence["wealth"]),
        }
        return after

    # ---------------------------------------------------------------- the way back

    def _on_trial(self, state: StreamState, inputs: Tensor) -> tuple[StreamState, Tensor]:
        """The source predicts; now and then the adapted model shows what it would have said."""
        number = state.guard["trial_batches"]
        if not self._is_tried(state):
            after, logits = self._by_source(state, inputs)
            after.guard |= {"trial_batches": number + 1}
            return after, logits
        after, parts = learned(self.attempt, state, inputs)
        answer = joined(parts)
        source = answer.source
        if source is None:
            source = self.passed(state, after, inputs)
        after.blessed = state.blessed
        evidence, _ = unusual.noted(state.guard, unusual.facts(inputs, source))
        evidence, answer = self.followed(evidence, state, replace(answer, source=source))
        look, _ = self.look(state, after, inputs, answer, evidence)
        evidence = self.weighed(evidence, look, cost=0)  # passes that were saved pay for it
        after.guard = evidence | {
            "trial_batches": number + 1,
            "trial_samples": evidence["trial_samples"] + len(look.source),
            "wealth": torch.zeros_like(evidence["wealth"]),
        }
        return self._verdict(after), source

    def _is_tried(self, state: StreamState) -> bool:
        """Whether the adapted model, fallen back, is given the next batch too."""
        return not state.guard["trial_batches"] % state.guard["trial_every"]

    def _verdict(self, after: StreamState) -> StreamState:
        """Whether a trial is over, and how it ended: with a return, or with another beginning."""
        evidence, learns_on = after.guard, self.learns_the_stream(after)
        samples, needed = float(evidence["trial_samples"]), float(evidence["trial_needed"])
        harms = evidence["ring"][: int(min(samples, needed)), 0]
        proved = learns_on and betting.benefit(harms, self.guard.allowed_harm) >= self.guard.alarm
        if not proved and samples < (EARLIEST * needed if learns_on else needed):
            return after
        zero = torch.zeros_like(evidence["trial_samples"])
        if not (proved or self.is_cleared(harms, self.guard.allowed_harm)):
            if learns_on and samples < LATEST * needed:
                return after
            after = self.restored(after, None)
            rarer = (2 * evidence["trial_every"] + 1).clamp(max=RAREST_TRIAL)
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
