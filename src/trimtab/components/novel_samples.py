"""Sample selection: certain and non-redundant samples (EATA, arXiv:2204.02610)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from trimtab.core.backbone import Tensors
from trimtab.core.component import Step, Weighting
from trimtab.core.ranges import check_positive, check_shares
from trimtab.functional import along_classes, averaged_over_kept, class_means_over, entropy
from trimtab.image_size import is_small

SMALL_IMAGE_SIMILARITY, LARGE_IMAGE_SIMILARITY = 0.4, 0.05


@dataclass(frozen=True)
class NovelSamples(Weighting):
    """Leave out uncertain samples and those like the samples learned from before.

    A kept sample weighs exp(limit - entropy), and the loss is averaged over the kept ones. The
    first batch has nothing to be compared with, so there certainty alone decides.

    Args:
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        max_similarity: Cosine between a prediction and the mean of those learned from before
            from which a sample is left out; None takes 0.4 for images of up to 64 px a side and
            0.05 for larger ones.
        momentum: Of that mean.
    """

    max_entropy: float = 0.4
    max_similarity: float | None = None
    momentum: float = 0.9

    dense = True
    later_memory: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {"mean_probs": ("classes",)}
    )

    def __post_init__(self) -> None:
        check_positive(self, "max_entropy", "max_similarity")
        check_shares(self, "momentum")

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        probs, uncertainty = step.logits.softmax(1), entropy(step.logits)
        limit = self.max_entropy * math.log(probs.shape[1])
        kept = uncertainty < limit
        if "mean_probs" in memory:
            similarity = cosine_similarity(along_classes(memory["mean_probs"], probs), probs).abs()
            kept = kept & (similarity < self._max_similarity(step))
        if bool(kept.any()):
            self._remember(class_means_over(probs, kept), memory)
        return averaged_over_kept(torch.exp(limit - uncertainty) * kept)

    def _max_similarity(self, step: Step) -> float:
        if self.max_similarity is not None:
            return self.max_similarity
        small = is_small(tuple(step.inputs.shape[1:]))
        return SMALL_IMAGE_SIMILARITY if small else LARGE_IMAGE_SIMILARITY

    def _remember(self, probs: Tensor, memory: Tensors) -> None:
        mean = memory.get("mean_probs", probs)
        memory["mean_probs"] = mean.lerp(probs, 1 - self.momentum)
