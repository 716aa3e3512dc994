"""Prototype classifier from confident features of the stream (T3A, NeurIPS 2021)."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import linear, normalize

from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, Start, Step
from trimtab.core.linear_head import linear_head
from trimtab.core.ranges import check_counts
from trimtab.functional import entropy

EMPTY = torch.finfo(torch.float32).max
"""Entropy of a place that holds nothing: finite, and above that of every prediction."""


@dataclass(frozen=True)
class PrototypeClassifier(OutputRule):
    """Classify by the mean direction of each class's most certain features, not the head's rows.

    Each class has a support of directions: its row of the head at first, then also the features
    that the network itself predicts to be of the class, as long as they are among the ``filter_k``
    of least entropy. A logit is the feature's product with the mean direction of a support, which
    has the mean length of the head's rows, so that logits keep the head's scale. The head's bias is
    left out.

    Args:
        filter_k: Most features in a class's support. A stream remembers classes x filter_k x
            features numbers.
    """

    filter_k: int = 20

    not_dense = "replaces the linear classifier of features, and pixels have none"

    def __post_init__(self) -> None:
        check_counts(self, "filter_k")

    def new_memory(self, start: Start) -> Tensors:
        """Support (classes, filter_k, features), its entropies, and the length of prototypes."""
        weight, bias = linear_head(start, self.name)
        support = weight.new_zeros(len(weight), self.filter_k, weight.shape[1])
        entropies = weight.new_full((len(weight), self.filter_k), EMPTY)
        support[:, 0] = normalize(weight)
        entropies[:, 0] = entropy(linear(weight, weight, bias))
        return {
            "support": support,
            "entropies": entropies,
            "length": weight.norm(dim=1).mean(),
        }

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        directions = normalize(step.features).to(memory["support"])
        uncertain = entropy(step.logits).to(memory["entropies"])
        labels = step.logits.argmax(1)
        for label in labels.unique().tolist():
            mine = labels == label
            self._admit(label, directions[mine], uncertain[mine], memory)
        # Empty places are zeros and change no direction.
        prototypes = normalize(memory["support"].sum(1)) * memory["length"]
        return linear(step.features, prototypes.to(step.features)).to(logits)

    def _admit(self, label: int, directions: Tensor, uncertain: Tensor, memory: Tensors) -> None:
        """Keep the most certain of a class's support and these; of equals, the earlier ones."""
        candidates = torch.cat([memory["support"][label], directions])
        entropies = torch.cat([memory["entropies"][label], uncertain])
        kept = entropies.argsort(stable=True)[: self.filter_k]
        memory["support"][label] = candidates[kept]
        memory["entropies"][label] = entropies[kept]
