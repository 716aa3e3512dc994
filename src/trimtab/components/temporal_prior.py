"""Let neighbours in time share their class, as far as the stream shows that they do."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.appearance import Appearance, appearance, distance
from trimtab.core.backbone import Tensors
from trimtab.core.component import NormRule, OutputRule, Start, Step
from trimtab.core.norm import NormPolicy
from trimtab.sticky_chain import smooth

STAYS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 0.99)
"""Probabilities that a class stays from one sample to the next, all weighed against each other."""
LEAST_EVIDENCE = 0.02
"""Of a class relative to the likeliest one: a sure mistake must not end a run of its own."""
LEAST_TRUST = 1e-3
"""Below it predictions are left exactly as they are."""
DOUBT_SAMPLES = 128.0
"""Until about so many have been seen, a model's favourite classes are not known: predictions are
left alone unless correlation is plain, and late batch norms do not count on independence."""
CHANGED = 1.0
"""Batches this far apart, in standard deviations of a sample, are of different domains."""
PLAIN_TRUST = 0.5
"""From this trust in correlation on, its runs explain why batches look different."""


@dataclass(frozen=True)
class TemporalPrior(OutputRule, NormRule):
    """Smooth predictions along time by chains whose class stays with some probability.

    Chains of different probability run side by side; each counts as much as its likelihood says,
    which is found without labels, forgets slowly and is measured against a running histogram of
    the predictions: a model that favours some classes is biased, its stream is not correlated.
    Where inputs begin to look different the histogram begins anew, because bias may have changed.
    What bias cannot explain, but correlation can, are long runs of one class, so only chains
    above ``min_stay`` change predictions. Samples of a batch inform each other both ways; across
    batches, and so for single samples, only the past does.

    Args:
        min_stay: Least probability to stay that counts as correlation.
        caution: Nats of likelihood by which correlation has to be the better explanation; more
            at first, when bias looks the same.
        memory: Over how many samples likelihoods are remembered.
        samples_per_class: Over how many samples for each class the histogram is.
        stored_samples: A batch of so many samples weighs as much as the stored statistics of
            batch norms. The later half of these, whose statistics tell of classes, trusts a batch
            only as far as its samples seem independent. None leaves batch norms to the method.
    """

    min_stay: float = 0.7
    caution: float = 12.0
    memory: float = 256.0
    samples_per_class: float = 100.0
    stored_samples: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.min_stay < STAYS[-1]:
            raise ValueError(f"min_stay must lie in [0, {STAYS[-1]}), got {self.min_stay}")
        if not self.caution >= 0:
            raise ValueError(f"caution must be 0 nats or more, got {self.caution}")
        for name in ("memory", "samples_per_class"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} must be at least 1 sample, got {getattr(self, name)}")
        if self.stored_samples is not None and not self.stored_samples > 0:
            raise ValueError(f"stored_samples must be positive, got {self.stored_samples}")

    def new_memory(self, start: Start) -> Tensors:
        uniform = torch.full((start.num_classes,), 1 / start.num_classes, device=start.device)
        return {
            "histogram": uniform,
            "beliefs": uniform.repeat(len(STAYS), 1),
            "log_likelihoods": torch.zeros(len(STAYS), device=start.device),
            "seen": torch.zeros((), device=start.device),
            "counted": torch.zeros((), device=start.device),
            "looks_mean": torch.zeros(3, device=start.device),
            "looks_variance": torch.zeros(3, device=start.device),
        }

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        # Hundreds of tiny operations are quickest on a CPU, wherever the model is.
        log_probs = logits.log_softmax(1).float().cpu()
        probs = log_probs.exp()
        new_domain = self._enters_domain(step.inputs, memory)
        if new_domain:
            memory["histogram"].fill_(1 / probs.shape[1])
            memory["counted"].zero_()
            self._count(probs, memory)
        stays = torch.tensor(STAYS)
        fresh = self._fresh(memory["histogram"].cpu())
        chains = smooth(evidence_of(log_probs, fresh), fresh, stays, memory["beliefs"].cpu())
        past = (1 - 1 / self.memory) ** len(logits)
        likelihoods = past * memory["log_likelihoods"].cpu() + chains.log_likelihood
        memory["log_likelihoods"].copy_(likelihoods - likelihoods.max())
        memory["beliefs"].copy_(chains.last)
        memory["seen"].add_(len(logits))
        if not new_domain:
            self._count(probs, memory)
        trust = self._trust(memory).cpu()
        if trust.sum() < LEAST_TRUST:
            return logits
        mixed = (chains.probs * trust[:, None]).sum(1) + (1 - trust.sum()) * probs
        return mixed.clamp(min=torch.finfo(mixed.dtype).tiny).log().to(logits)

    def _enters_domain(self, inputs: Tensor, memory: Tensors) -> bool:
        """Whether a batch looks so unlike the last one that a model's favourites may be others."""
        looks = appearance(inputs)
        if looks is None:
            return False
        before = Appearance(memory["looks_mean"].clone(), memory["looks_variance"].clone())
        memory["looks_mean"].copy_(looks.mean)
        memory["looks_variance"].copy_(looks.variance)
        first = not bool(before.variance.any())
        if first or float(self._trust(memory).sum()) >= PLAIN_TRUST:
            return False
        return distance(before, looks) > CHANGED

    def _trust(self, memory: Tensors) -> Tensor:
        """How much each chain changes predictions, shape (chains,); sums to 1 at most."""
        likelihoods = memory["log_likelihoods"]
        acts = self._acts(likelihoods)
        unknown = 2 * DOUBT_SAMPLES / (DOUBT_SAMPLES + 2 * memory["seen"])
        return (likelihoods - self.caution * (1 + unknown) * acts).softmax(0) * acts

    def _acts(self, like: Tensor) -> Tensor:
        """1 for chains that change predictions, 0 for others, shape (chains,)."""
        return (like.new_tensor(STAYS) > self.min_stay).to(like)

    def _fresh(self, histogram: Tensor) -> Tensor:
        """The histogram as if each class had been seen once more than it was."""
        uniform = torch.full_like(histogram, 1 / len(histogram))
        return histogram.lerp(uniform, 1 / (1 + self.samples_per_class))

    def _count(self, probs: Tensor, memory: Tensors) -> None:
        """Let the histogram follow the predictions."""
        classes = probs.shape[1]
        before = (memory["counted"] + 2 * classes).clamp(max=self.samples_per_class * classes)
        weight = len(probs) / (before + len(probs))
        memory["histogram"].lerp_(probs.mean(0).to(memory["histogram"]), weight)
        memory["counted"].add_(len(probs))

    def norm(self, policy: NormPolicy, samples: int, memory: Tensors) -> NormPolicy:
        if self.stored_samples is None or not policy.couples_samples:
            return policy
        # a policy that keeps statistics weighs batches against the stream by itself
        worth = 1.0 if policy.keep_weight else _turning(samples, self.stored_samples)
        return replace(
            policy,
            batch_weight=worth * policy.batch_weight,
            late_share=self._independence(memory),
            differentiable=False,  # constants for the gradient, which is as good and much faster
        )

    def _independence(self, memory: Tensors) -> float:
        """How far the stream has shown that its samples are independent, from 0 to 1."""
        stays = memory["beliefs"].new_tensor(STAYS)
        # Independent or correlated: what lies between is what wrong statistics make of the latter.
        between = (stays > 0) & (stays <= self.min_stay)
        odds = memory["log_likelihoods"].masked_fill(between, -torch.inf).softmax(0)
        return float(1 - odds @ stays) * _turning(float(memory["seen"]), DOUBT_SAMPLES)


def _turning(samples: float, point: float) -> float:
    """From 0 to 1 as samples become more, one half at a point."""
    return samples**2 / (samples**2 + point**2)


def evidence_of(log_probs: Tensor, fresh: Tensor) -> Tensor:
    """What each sample says of its class beyond the histogram, shape (samples, classes).

    Relative to the class that gains most.
    """
    gains = log_probs - fresh.log()
    return (gains - gains.amax(1, keepdim=True)).exp().clamp(min=LEAST_EVIDENCE)
