"""Pseudo-labels and keys."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.pseudo_label_contrast import PseudoLabelContrast
from trimtab.core.backbone import Tensors
from trimtab.core.component import Step
from trimtab.core.prediction import Prediction


def seen(logits: Tensor, features: Tensor) -> Step:
    return replace(step(logits), prediction=Prediction(logits, features))


def new_memory(rule: PseudoLabelContrast, features: int = 2, classes: int = 2) -> Tensors:
    return {
        "queue": torch.zeros(rule.queue_size, features),
        "queue_labels": torch.full((rule.queue_size,), -1),
        "queued": torch.tensor(0),
        "waiting_keys": torch.zeros(0, features),
        "bank": torch.zeros(rule.bank_size, features),
        "bank_probs": torch.zeros(rule.bank_size, classes),
        "seen": torch.tensor(0),
    }


def test_neighbours_vote_from_the_first_batch_that_enough_samples_precede() -> None:
    rule = PseudoLabelContrast(refine_from=4, neighbours=1, queue_size=8, bank_size=8)
    logits, features = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.eye(2)
    opposite = Prediction(logits.flip(1), features)
    memory = new_memory(rule)
    labels = [
        rule.remember(seen(logits, features), opposite, opposite, memory)["labels"].tolist()
        for _ in range(3)
    ]
    assert labels == [[0, 1], [0, 1], [1, 0]]  # the bank holds the opposite opinion


def test_votes_equal_an_obvious_search() -> None:
    rule = PseudoLabelContrast(refine_from=0, neighbours=3, queue_size=4, bank_size=50)
    memory = new_memory(rule, features=5, classes=4)
    features, probs = torch.randn(30, 5), torch.randn(30, 4).softmax(1)
    rule.add_to_bank(features, probs, memory)
    asking = torch.randn(6, 5)
    labels = rule.pseudo_labels(seen(torch.zeros(6, 4), asking), memory)
    for row, label in zip(asking, labels, strict=True):
        distances = [1 - torch.cosine_similarity(row, other, dim=0) for other in features]
        nearest = sorted(range(30), key=lambda i: float(distances[i]))[:3]
        assert label == probs[nearest].mean(0).argmax()


def test_the_oldest_entries_of_the_bank_go_first() -> None:
    rule = PseudoLabelContrast(bank_size=5)
    memory = new_memory(rule)
    for first in (0, 3, 6):
        numbers = torch.arange(first, first + 3.0)[:, None].expand(-1, 2)
        rule.add_to_bank(numbers, numbers, memory)
    assert memory["bank"][:, 0].tolist() == [5, 6, 7, 8, 4]


def test_a_batch_larger_than_queue_and_bank_leaves_its_last_samples() -> None:
    rule = PseudoLabelContrast(queue_size=3, bank_size=2)
    memory = new_memory(rule)
    prediction = Prediction(torch.randn(5, 2), torch.randn(5, 2))
    targets = rule.remember(seen(*prediction), prediction, prediction, memory)  # type: ignore[arg-type]
    assert torch.equal(memory["waiting_keys"], targets["keys"][-3:])
    assert torch.equal(memory["queue_labels"], targets["labels"][-3:])
    assert torch.equal(memory["bank"], prediction.features[-2:])  # type: ignore[index]


def test_keys_join_the_queue_one_batch_late_under_labels_of_their_own() -> None:
    rule = PseudoLabelContrast(queue_size=4, bank_size=4)
    memory = new_memory(rule)
    features = torch.eye(2)
    prediction = Prediction(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), features)
    rule.remember(seen(*prediction), prediction, prediction, memory)  # type: ignore[arg-type]
    assert memory["queue"].abs().sum() == 0
    assert memory["queue_labels"].tolist() == [0, 1, -1, -1]
    rule.remember(seen(*prediction), prediction, prediction, memory)  # type: ignore[arg-type]
    assert torch.equal(memory["queue"][:2], features)
    assert memory["queue_labels"].tolist() == [0, 1, 0, 1]


def test_the_loss_equals_an_obvious_version() -> None:
    rule = PseudoLabelContrast(queue_size=6)
    logits, features = torch.randn(3, 4), torch.randn(3, 5)
    labels, keys = torch.tensor([0, 2, 2]), normalize(torch.randn(3, 5), dim=1)
    memory = {
        "queue": normalize(torch.randn(6, 5), dim=1),
        "queue_labels": torch.tensor([0, 0, 1, 2, 3, 2]),
    }
    asked = replace(
        step(torch.zeros(3, 4)),
        forward=lambda inputs, params=None: Prediction(logits, features),  # type: ignore[arg-type]
        views={rule.name: torch.zeros(3, 1)},
        targets={rule.name: {"labels": labels, "keys": keys}},
    )
    mean = logits.softmax(1).mean(0)
    diversity = (mean * (mean + 1e-8).log()).sum()
    for row, loss in enumerate(rule.loss(asked, memory)):
        query = features[row] / features[row].norm()
        own = torch.exp(query @ keys[row] / 0.07)
        others = [
            torch.exp(query @ key / 0.07)
            for key, label in zip(memory["queue"], memory["queue_labels"], strict=True)
            if label != labels[row]
        ]
        contrast = -(own / (own + sum(others))).log()
        classification = -logits[row].log_softmax(0)[labels[row]]
        torch.testing.assert_close(
            loss, classification + contrast + diversity, rtol=1e-4, atol=1e-5
        )


def test_it_can_be_added_to_another_method(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "tent + pseudo_label_contrast(queue_size=32, refine_from=16)")
    for batch in images.split(16):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 6


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="neighbours must be at least 1, got 0"):
        PseudoLabelContrast(neighbours=0)
    with pytest.raises(ValueError, match="temperature must be positive, got 0"):
        PseudoLabelContrast(temperature=0)
