"""Pseudo-labels refined by neighbours, and a MoCo queue (AdaContrast, arXiv:2204.10377)."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from trimtab.augment import Augment, augmented
from trimtab.augment.contrast import StrongView
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, ParameterRule, Start, Step
from trimtab.core.linear_head import width_of_features
from trimtab.core.prediction import Prediction
from trimtab.core.ranges import check_counts, check_positive, check_shares
from trimtab.functional import full_copy, move_towards

KEY = "key."
"""Begins the names of the key network's parameters."""


@dataclass(frozen=True)
class PseudoLabelContrast(Objective, ParameterRule):
    """A strong view has to bear its sample's pseudo-label and to find its key among many.

    Pseudo-labels are the network's own until enough samples were seen, then votes of the nearest
    features in a bank. Keys are features of another strong view under a slow average of the
    network; keys of the same pseudo-label are no negatives. Predictions stay diverse on average.

    Args:
        momentum: Of the key network.
        temperature: Of the contrast.
        neighbours: How many vote.
        queue_size: Keys to contrast with.
        bank_size: Features and probabilities that can vote; the oldest go first.
        refine_from: Samples seen before neighbours vote.
        strong: Makes the strong views; None takes MoCo v2's without the crop.
    """

    momentum: float = 0.999
    temperature: float = 0.07
    neighbours: int = 10
    queue_size: int = 16_384
    bank_size: int = 16_384
    refine_from: int = 1024
    strong: Augment | None = None

    varying_memory: ClassVar[frozenset[str]] = frozenset({"waiting_keys"})

    not_dense = "keeps features and a label of each sample, and an image has a label for each pixel"

    def __post_init__(self) -> None:
        check_shares(self, "momentum")
        check_positive(self, "temperature")
        check_counts(self, "neighbours", "queue_size", "bank_size")

    def new_memory(self, start: Start) -> Tensors:
        """The key network, a queue of random keys, an empty bank, and counts."""
        width = width_of_features(start, self.name)
        classes, device = start.num_classes, start.device
        queue = torch.randn(self.queue_size, width, generator=start.generator)
        labels = torch.randint(classes, (self.queue_size,), generator=start.generator)
        return {
            **{KEY + name: full_copy(value) for name, value in start.source.items()},
            "queue": normalize(queue, dim=1).to(device),
            "queue_labels": labels.to(device),
            "queued": torch.tensor(0),
            "waiting_keys": torch.zeros(0, width, device=device),
            "bank": torch.zeros(self.bank_size, width, device=device),
            "bank_probs": torch.zeros(self.bank_size, classes, device=device),
            "seen": torch.tensor(0),
        }

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        move_towards(key_params(memory), params, 1 - self.momentum)

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        return augmented(self.strong or StrongView(), inputs, generator)

    def targets(self, step: Step, memory: Tensors) -> Tensors:
        """Pseudo-labels (batch,) and keys (batch, features)."""
        key = step.forward(self.views(step.inputs, step.generator), key_params(memory))
        return self.remember(step, key, step.forward(step.inputs, key_params(memory)), memory)

    def remember(self, step: Step, key: Prediction, banked: Prediction, memory: Tensors) -> Tensors:
        """The targets of a step, which the queue and the bank remember from now on.

        Args:
            key: What the key network says of another strong view.
            banked: What it says of the inputs themselves.
        """
        if key.features is None or banked.features is None:
            raise ValueError("pseudo_label_contrast needs the network's features, got none")
        labels = self.pseudo_labels(step, memory)
        keys = normalize(key.features, dim=1).to(memory["queue"])
        # The queue takes keys in one step late: those of a sample are no negatives of its own
        # batch, while the places they will take bear its label already.
        waiting, queued = memory["waiting_keys"], int(memory["queued"])
        memory["queue"][places(queued - len(waiting), len(waiting), self.queue_size)] = waiting
        newest = min(len(keys), self.queue_size)
        memory["queue_labels"][places(queued, newest, self.queue_size)] = labels[-newest:]
        memory["waiting_keys"] = keys[-newest:].clone()
        memory["queued"] = torch.tensor(queued + newest)
        self.add_to_bank(banked.features, banked.logits.softmax(1), memory)
        return {"labels": labels, "keys": keys}

    def pseudo_labels(self, step: Step, memory: Tensors) -> Tensor:
        seen = min(int(memory["seen"]), self.bank_size)
        if int(memory["seen"]) < self.refine_from or not seen:
            return step.logits.argmax(1)
        bank = normalize(memory["bank"][:seen], dim=1)
        similarity = normalize(step.features.to(bank), dim=1) @ bank.T
        nearest = similarity.topk(min(self.neighbours, seen), 1).indices
        return memory["bank_probs"][nearest].mean(1).argmax(1)

    def add_to_bank(self, features: Tensor, probs: Tensor, memory: Tensors) -> None:
        newest, seen = min(len(features), self.bank_size), int(memory["seen"])
        slots = places(seen, newest, self.bank_size)
        memory["bank"][slots] = features[-newest:].to(memory["bank"])
        memory["bank_probs"][slots] = probs[-newest:].to(memory["bank_probs"])
        memory["seen"] = torch.tensor(seen + newest)

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        """Classification, contrast with the queue, and diversity of the mean prediction."""
        labels, keys = (step.targets[self.name][name] for name in ("labels", "keys"))
        query = step.forward_view(self.name)
        assert query.features is not None  # new_memory has seen that there are some
        features = normalize(query.features, dim=1)
        own = (features * keys.to(features)).sum(1, keepdim=True)
        others = features @ memory["queue"].to(features).T
        others = others.masked_fill(memory["queue_labels"] == labels[:, None], -torch.inf)
        similarity = torch.cat([own, others], 1) / self.temperature
        found = -similarity.log_softmax(1)[:, 0]
        mean = query.logits.softmax(1).mean(0)
        diversity = (mean * (mean + 1e-8).log()).sum()
        return cross_entropy(query.logits, labels, reduction="none") + found + diversity


def key_params(memory: Tensors) -> Tensors:
    """The key network's parameters, by their full name."""
    return {name[len(KEY) :]: t for name, t in memory.items() if name.startswith(KEY)}


def places(start: int, count: int, size: int) -> Tensor:
    """Places of ``count`` entries in a ring, from its ``start``-th entry on."""
    return torch.arange(start, start + count) % size
