"""FOA: forward-only adaptation of prompts (Niu et al., ICML 2024, arXiv:2404.01650)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.components.feature_centering import FeatureCentering
from trimtab.core import evolution
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.card import Card
from trimtab.core.component import NAME_FEATURES, Start
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE
from trimtab.core.prediction import Prediction
from trimtab.core.prompted import is_prompt
from trimtab.core.ranges import check_counts, check_not_negative, check_positive
from trimtab.core.source_data import SourceInputs, unlabelled
from trimtab.functional import entropy

CARD = Card(
    title="FOA",
    paper="Niu et al., ICML 2024, arXiv:2404.01650",
    idea=(
        "Finds prompt tokens of a transformer by an evolution strategy, without a backward pass: "
        "candidates of small entropy whose features' statistics are close to the source's. The "
        "features' mean is moved to the source's before the classifier. "
        "The paper's idea; ours: statistics of the classifier's input alone, not of every block; "
        "a diagonal covariance (sep-CMA-ES), which is saved with the stream; without source data "
        "the source's mean is taken as zero, as NEO does, and candidates are held to the features "
        "without prompts. Prompts need ``trimtab.prompted(model)``; on other networks this is the "
        "move of the mean alone. Neither the full paper nor the code was compared."
    ),
    helps="Vision transformers where no backward pass can be had and 28 forwards can.",
    hurts="Cost; batch-norm networks; class-ordered streams, as the mean of one class moves.",
    forwards="1 (and 28 more with prompts)",
    backwards="0",
    source_data="a few hundred inputs without labels, once when a stream begins; optional",
)

MEMORY = "prompt_search"


@dataclass(frozen=True)
class PromptSearch(Learner):
    """The common loop, with the prediction of the best of a generation of prompts.

    Args:
        population: Prompts that are tried on each batch; each costs a forward pass.
        deviation: Standard deviation of the first generation.
        distance_weight: Weight of the distance of features' means and deviations from the source's,
            relative to the size of the deviations, beside the entropy in nats.
        source_data: Batches of source inputs, for the statistics of their features.
    """

    population: int = 28
    deviation: float = 0.1
    distance_weight: float = 1.0
    source_data: SourceInputs | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_counts(self, "population", least=4)
        check_positive(self, "deviation")
        check_not_negative(self, "distance_weight")

    def own_memory(self, start: Start) -> dict[str, Tensors]:
        prompts = start.backbone.parameters(is_prompt)
        if not prompts:
            return {}
        (prompt,) = prompts.values()
        memory = evolution.begun(prompt.numel(), self.deviation, start.device)
        if self.source_data is not None:
            inputs = [*unlabelled(self.source_data, start.sample_shape)]
            kind = start.device, start.backbone.dtype
            with torch.no_grad():
                found = [start.forward(batch.to(*kind), {}, SOURCE) for batch in inputs]
            memory["source"] = statistics(torch.cat([_features(one) for one in found]))
        return {MEMORY: memory}

    def predict(self, attempt: Attempt, inputs: Tensor) -> Prediction:
        plain = super().predict(attempt, inputs)
        memory = attempt.state.memory.get(MEMORY)
        if memory is None:
            return plain
        ((name, prompt),) = attempt.backbone.parameters(is_prompt).items()
        search = {key: value for key, value in memory.items() if key != "source"}
        goal = memory.get("source", statistics(_features(plain)))
        tried = evolution.candidates(search, self.population, attempt.state.generator)
        policy = self.further_norm(attempt, len(inputs))
        best, costs = plain, []
        for candidate in tried:
            params = {name: candidate.view_as(prompt).to(prompt.dtype)}
            found = attempt.forward(inputs, params, policy)
            costs.append(self._cost(found, goal))
            best = found if costs[-1] == min(costs) else best
        ranked = torch.tensor(costs).nan_to_num(torch.inf)
        if bool(ranked.isfinite().any()):
            evolution.learn(search, tried, ranked.to(tried))
        return best

    def _cost(self, found: Prediction, goal: Tensor) -> float:
        apart = statistics(_features(found)) - goal
        distance = apart.norm(dim=1).sum() / goal[1].norm().clamp(min=1e-6)
        return float(entropy(found.logits).mean() + self.distance_weight * distance)


def statistics(features: Tensor) -> Tensor:
    """Mean and standard deviation of features, (2, features)."""
    return torch.stack([features.mean(0), features.std(0, correction=0)])


def _features(found: Prediction) -> Tensor:
    if found.features is None:
        raise ValueError(
            "foa needs features, and the model runs no linear layer whose input could serve; "
            f"{NAME_FEATURES}"
        )
    return found.features.detach()


def foa(
    *,
    source_data: SourceInputs | None = None,
    population: int = 28,
    deviation: float = 0.1,
    distance_weight: float = 1.0,
    horizon_samples: int = 640,
) -> Method:
    """Search for prompts without a backward pass, and move the features' mean to the source's.

    ``trimtab.adapt(trimtab.prompted(vit), "foa")``. The move alone, at one forward pass, is
    ``"neo + feature_centering"`` with source data, or this method on a network without prompts.

    Args:
        source_data: Batches of source inputs, or (inputs, labels) pairs whose labels are not used.
        population: Prompts that are tried on each batch.
        deviation: Standard deviation of the first prompts.
        distance_weight: Weight of the features' distance from the source's, beside the entropy.
        horizon_samples: From how many samples on the features' mean moves with the stream; 640 is
            the paper's moving average, 0.9 a batch of 64.
    """
    learner = PromptSearch(population, deviation, distance_weight, source_data)
    shift = FeatureCentering(horizon_samples, source_data=source_data)
    return Method((shift,), norm=SOURCE, learner=learner)
