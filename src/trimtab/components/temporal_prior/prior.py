"""Hidden Markov smoothing of predictions along time, as far as their order calls for it."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.components.temporal_prior import chains, class_sets, likelihood
from trimtab.components.temporal_prior.likelihood import NUM_WRONG
from trimtab.components.temporal_prior.run_lengths import RunLengths
from trimtab.components.temporal_prior.shift import Shift
from trimtab.components.temporal_prior.stretch import (
    PIECE_SAMPLES,
    PLAIN_TRUST,
    Piece,
    Plain,
    Stretch,
)
from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, Start, Step
from trimtab.core.looks import NUM_LOOKS, looks_of
from trimtab.core.norm import NormPolicy

Numbers = npt.NDArray[Any]

STAYS = np.array([0.5, 0.8, 0.9, 0.95, 0.98, 0.99], np.float32)
"""Probabilities that a class stays from one sample to the next, weighed against each other."""
HORIZONS = np.array([8.0, 32.0, 128.0], np.float32)
"""Samples over which a set of classes stays, weighed against each other and against chains."""
NEGLIGIBLE = 1e-3
"""Trust in an explanation that is not worth working it out."""
NUM_CHAINS = NUM_WRONG * len(STAYS)
MOST, LEAST = 20.0, -10.0
"""Nats of evidence that are remembered: what ends or begins is noticed within a few samples."""
MOST_AT_CHANGE = 11.0
"""Nats of it that are remembered where a domain begins: runs that end with a domain have to be
noticed before the new one's bias has done harm, and runs that go on show themselves again."""
SET_WEIGHT = 0.75
"""Share of a set's evidence that counts: what a class is mistaken for looks like a set as well,
so that sets win only where they explain a third more than runs do."""
SET_SAMPLES = 512.0
"""Samples over which evidence for class sets is remembered; runs that end speak against
themselves, sets that end do not."""
LEAST_TRUST = 0.02
"""Below it predictions are left exactly as they are; where nothing is known it is 0.002."""
BLOCK_NUMBERS = 4_000_000
"""Most numbers of chains at once: longer batches, or very many classes, are taken in blocks."""


@dataclass(frozen=True)
class TemporalPrior(OutputRule):
    """Correct predictions by their neighbours in time, where classes are correlated.

    Three kinds of explanation run side by side: samples are independent; a class stays (hidden
    Markov chains of several persistences); a set of classes stays (local priors of several
    horizons). Each is weighed by how likely it makes the predictions in the order in which they
    came, relative to the mean prediction m of the stretch that they belong to, themselves
    included. A model's bias is part of m, so bias alone is never evidence: were the samples in
    any order, no explanation would be expected to gain (Jensen's inequality), whatever the number
    of classes. A stretch ends where inputs begin to look different, because bias changes with the
    domain; evidence counts only once the samples that follow look alike. Where order was plain
    until then, m remembers earlier stretches for a while; if it is another domain, order has to
    explain more than a bias of the new one would. Once order is plain, m is balanced over classes,
    so that a run which outlasts all others does not become the mean.

    Samples of a batch inform each other both ways; across batches only the past does.

    Args:
        caution: Nats of likelihood by which order has to be the better explanation.
        horizon_samples: Over how many samples the mean prediction is taken.
    """

    caution: float = 6.0
    horizon_samples: float = 4000.0

    tells_of_stream = True
    not_dense = "follows the class of one sample after another, and an image has many"

    def __post_init__(self) -> None:
        if not self.caution >= 0:
            raise ValueError(f"caution must be 0 nats or more, got {self.caution}")
        if not self.horizon_samples >= 1:
            raise ValueError(f"horizon_samples must be at least 1, got {self.horizon_samples}")

    def new_memory(self, start: Start) -> Tensors:
        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, device=start.device)

        explanations = NUM_CHAINS + len(HORIZONS)
        uniform = zeros(start.num_classes) + 1 / start.num_classes
        return {
            "mean": uniform.clone(),
            "counted": zeros(),
            "class_samples": zeros(start.num_classes),
            "runs": torch.tensor([-1.0, 0.0, 0.0, 0.0], device=start.device),
            "confidence": zeros(),
            "confidence_counted": zeros(),
            "inherited": zeros(),
            "shift_drawn": zeros(start.num_classes),
            "shift_gain": zeros(),
            "beliefs": uniform.repeat(NUM_WRONG, len(STAYS), 1),
            "local": uniform.repeat(len(HORIZONS), 1),
            "evidence": zeros(explanations),
            "waiting": zeros(2, explanations),
            "in_runs": zeros(),
            "looks": zeros(2, NUM_LOOKS),
            "looks_counted": zeros(),
            "piece_looks": zeros(2, NUM_LOOKS),
            "piece_counted": zeros(),
            "piece_sum": zeros(start.num_classes),
            "norm_shares": zeros(2) + 1,
        }

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        # Hundreds of tiny operations are quickest in NumPy, wherever the model is.
        probs = logits.float().softmax(1).cpu().numpy()
        looks = looks_of(step.inputs)
        self._see_statistics(step.policy, memory)
        size = max(1, BLOCK_NUMBERS // (NUM_CHAINS * probs.shape[1]))
        blocks = [
            self._corrected(probs[first : first + size], looks[first : first + size], memory)
            for first in range(0, len(probs), size)
        ]
        if all(block is None for block in blocks):
            return logits
        mixed = np.concatenate(
            [
                probs[number * size : (number + 1) * size] if block is None else block
                for number, block in enumerate(blocks)
            ]
        )
        floor = torch.finfo(torch.float32).tiny
        return torch.from_numpy(mixed).clamp(min=floor).log().to(logits)

    def _see_statistics(self, policy: NormPolicy, memory: Tensors) -> None:
        """Begin a stretch where other batch norms use a batch's statistics than before.

        A model's bias is another one then, as in another domain.
        """
        shares = memory["norm_shares"].new_tensor([policy.early_share, policy.late_share])
        if torch.equal(memory["norm_shares"], shares):
            return
        memory["norm_shares"].copy_(shares)
        stretch, shift = Stretch.read(memory), Shift.read(memory)
        stretch.begin(self._order(memory), far=True)
        stretch.drop_piece()
        shift.forget()
        stretch.write(memory)
        shift.write(memory)
        memory["waiting"].zero_()

    def _corrected(self, probs: Numbers, looks: Numbers, memory: Tensors) -> Numbers | None:
        """Corrected probabilities of consecutive samples; None where they are right as they are."""
        stretch, order = Stretch.read(memory), self._order(memory)
        parts = stretch.pieces(looks)
        counting = copy(stretch)
        expected = self._expected(probs, memory)
        means = counting.means(probs, parts, order, self.horizon_samples, expected)
        fresh = means.values
        seen = likelihood.by_chains(probs, fresh, likelihood.wrong_shares(probs, memory))
        told = likelihood.by_sets(probs, fresh)
        beliefs, local = (memory[name].cpu().numpy() for name in ("beliefs", "local"))
        filtered = chains.filtered(seen, fresh, STAYS, beliefs)
        set_totals, local_after = class_sets.predictive(told, fresh, HORIZONS, local)
        chain_totals = filtered.totals.reshape(len(probs), NUM_CHAINS)
        gains = np.concatenate([np.log(chain_totals), SET_WEIGHT * np.log(set_totals)], 1)
        shift = Shift.read(memory)
        if means.inherited.any():  # another bias than the mean's is no order either
            begins = {part.samples.start for part in parts if part.changed}
            independent = shift.gains(told, fresh, begins)
            gains -= np.where(means.inherited, independent, 0)[:, None]
        self._weigh(gains, parts, memory)
        trust, mixed = self._trust(memory), None
        if trust.sum() >= LEAST_TRUST:
            smoothed = chains.smoothed(filtered, seen, fresh, STAYS)
            mixed = (1 - trust.sum()) * probs + _by_runs(smoothed, trust[:NUM_CHAINS])
            mixed += _by_sets(probs, fresh, counting.counted, local, trust[NUM_CHAINS:])
        if mixed is not None and trust.sum() >= PLAIN_TRUST:
            # the mean goes on with what the samples' classes turned out to be
            stretch.means(probs, parts, order, self.horizon_samples, mixed)
        else:
            stretch = counting
        if mixed is not None and trust[:NUM_CHAINS].sum() >= PLAIN_TRUST:
            self._follow_runs(mixed, True, memory)
        else:
            self._follow_runs(filtered.beliefs[:, -1, -1], False, memory)
        if self._runs_have_ended(memory):
            # their few classes are the mean still, and everything after them looks like a set
            stretch.forget(PIECE_SAMPLES, far=True)
            shift.forget()
            memory["evidence"][NUM_CHAINS:].clamp_(max=0)
        stretch.write(memory)
        shift.write(memory)
        memory["beliefs"].copy_(torch.from_numpy(filtered.beliefs[-1]))
        memory["local"].copy_(torch.from_numpy(local_after))
        return mixed

    def _expected(self, probs: Numbers, memory: Tensors) -> Numbers | None:
        """Classes of these samples if what is under way goes on; None where order is not plain."""
        trust = self._trust(memory)
        if trust.sum() < PLAIN_TRUST:
            return None
        beliefs, local = (memory[name].cpu().numpy() for name in ("beliefs", "local"))
        known = np.concatenate([beliefs.reshape(NUM_CHAINS, -1), local])
        return np.broadcast_to(trust @ known / trust.sum(), probs.shape)

    def _follow_runs(self, predictions: Numbers, plain: bool, memory: Tensors) -> None:
        """Measure how long runs are; those that end count if order is ``plain``."""
        runs = RunLengths.read(memory)
        runs.follow(predictions, plain)
        runs.write(memory)

    def _weigh(self, gains: Numbers, parts: list[Piece], memory: Tensors) -> None:
        """Let gains (samples, explanations) count once the piece after theirs looks alike."""
        evidence = memory["evidence"].cpu().numpy().copy()
        waiting = memory["waiting"].cpu().numpy().copy()
        for part in parts:
            if part.changed:
                waiting[:] = 0
            if part.far:
                evidence -= max(0.0, evidence.max() - MOST_AT_CHANGE)
            waiting[1] += gains[part.samples].sum(0)
            if part.full:
                evidence[NUM_CHAINS:] *= (1 - 1 / SET_SAMPLES) ** PIECE_SAMPLES
                evidence += waiting[0]
                evidence -= max(0.0, evidence.max() - MOST)
                evidence = evidence.clip(min=LEAST)
                waiting = np.stack([waiting[1], np.zeros_like(evidence)])
        memory["evidence"].copy_(torch.from_numpy(evidence))
        memory["waiting"].copy_(torch.from_numpy(waiting))

    def _runs_have_ended(self, memory: Tensors) -> bool:
        """Whether runs were trusted until now, and nothing speaks for any of them any more."""
        runs = memory["evidence"][:NUM_CHAINS].max()
        ended = bool(memory["in_runs"]) and bool(runs < 0)
        if ended or float(self._trust(memory)[:NUM_CHAINS].sum()) >= PLAIN_TRUST:
            memory["in_runs"].fill_(not ended)
        return ended

    def report(self, memory: Tensors) -> Mapping[str, float]:
        trust = self._trust(memory)
        chained = _by_persistence(trust)
        return {
            "trust": float(trust.sum()),
            "trust_in_runs": float(chained.sum()),
            "trust_in_sets": float(trust[NUM_CHAINS:].sum()),
            "stay_probability": float(chained @ STAYS) / max(float(chained.sum()), 1e-12),
            "stretch_samples": float(memory["counted"]),
        }

    def _order(self, memory: Tensors) -> Plain:
        """How plain order is, and how long runs are."""
        trust = self._trust(memory)
        chained = _by_persistence(trust)
        by_chains = float(chained @ (1 / (1 - STAYS))) / max(float(chained.sum()), 1e-12)
        return Plain(float(trust.sum()), max(by_chains, RunLengths.read(memory).usual))

    def _trust(self, memory: Tensors) -> Numbers:
        """How much each explanation changes predictions, (explanations,); sums to 1 at most."""
        scores = memory["evidence"].cpu().numpy() - self.caution
        highest = max(0.0, float(scores.max()))
        odds = np.exp(scores - highest) / len(scores)  # together as likely as independence
        return np.asarray(odds / (odds.sum() + np.exp(-highest)))


def _by_persistence(trust: Numbers) -> Numbers:
    """Trust in the chains of each persistence, (STAYS,)."""
    return np.asarray(trust[:NUM_CHAINS].reshape(NUM_WRONG, len(STAYS)).sum(0))


def _by_runs(smoothed: Numbers, trust: Numbers) -> Numbers:
    """What chains make of predictions, each with its trust, (samples, classes)."""
    by_chain = smoothed.reshape(len(smoothed), NUM_CHAINS, -1)
    return np.asarray(np.einsum("skc,k->sc", by_chain, trust))


def _by_sets(
    probs: Numbers, mean: Numbers, counted: float, local: Numbers, trust: Numbers
) -> Numbers:
    """What class sets of all horizons make of predictions, each with its trust."""
    mixed = np.zeros_like(probs)
    for horizon, before, share in zip(HORIZONS.tolist(), local, trust, strict=True):
        if share >= NEGLIGIBLE:
            bias = class_sets.bias(mean, counted, horizon)
            told = likelihood.by_sets(probs, bias)
            mixed += share * class_sets.corrected(probs, told, bias, horizon, before)
    return mixed
