"""Sample weighting by certainty and diversity (ROID, arXiv:2306.00650)."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from trimtab.core.backbone import Tensors
from trimtab.core.component import Start, Step, Weighting
from trimtab.core.ranges import check_positive, check_shares
from trimtab.functional import along_classes, class_means, entropy


@dataclass(frozen=True)
class CertaintyDiversity(Weighting):
    """Leave out samples less diverse than average; favour certain, diverse ones.

    The weight of a kept sample is exp(diversity * certainty / temperature), with both scaled to
    [0, 1] over the batch. A score that is the same for all samples tells nothing and is left to
    the other one; where both are (a batch of one, say), every sample counts once.

    Args:
        temperature: Smaller favours more.
        momentum: Share of the mean prediction that stays at each batch; diversity is the distance
            from it.
    """

    temperature: float = 1 / 3
    momentum: float = 0.9

    dense = True

    def __post_init__(self) -> None:
        check_positive(self, "temperature")
        check_shares(self, "momentum")

    def new_memory(self, start: Start) -> Tensors:
        classes = start.num_classes
        return {"mean_probs": torch.full((classes,), 1 / classes, device=start.device)}

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        probs = step.logits.softmax(1)
        mean = memory["mean_probs"].to(probs.dtype)
        diversity = certainty = None
        if probs.numel() > probs.shape[1]:  # a sample or pixel alone has nothing to differ from
            diversity = scaled_to_unit(1 - cosine_similarity(along_classes(mean, probs), probs))
            certainty = scaled_to_unit(-entropy(step.logits))
        memory["mean_probs"].lerp_(class_means(probs).to(memory["mean_probs"]), 1 - self.momentum)
        scores = [score for score in (diversity, certainty) if score is not None]
        if not scores:
            return torch.ones_like(probs[:, 0])
        weights = torch.exp(torch.stack(scores).prod(0) / self.temperature)
        return weights if diversity is None else weights * (diversity >= diversity.mean())


def scaled_to_unit(scores: Tensor) -> Tensor | None:
    """Scores moved to [0, 1]; None where they do not differ."""
    low, high = scores.aminmax()
    return (scores - low) / (high - low) if bool(high > low) else None
