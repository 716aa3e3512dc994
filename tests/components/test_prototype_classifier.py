"""Prototypes of certain features in place of the head's rows."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

import trimtab
from components.steps import step
from trimtab.components.prototype_classifier import PrototypeClassifier
from trimtab.core.component import Step
from trimtab.core.prediction import Prediction

Support = list[tuple[float, list[float]]]
"""Of one class: an entropy and a direction of length one for each entry."""


def step_with(logits: Tensor, features: Tensor) -> Step:
    prediction = Prediction(logits, features)
    return replace(step(logits), prediction=prediction, recent=prediction)


def direction(row: list[float]) -> list[float]:
    return [value / math.hypot(*row) for value in row]


def product(first: list[float], second: list[float]) -> float:
    return sum(a * b for a, b in zip(first, second, strict=True))


def entropy_by_hand(logits: list[float]) -> float:
    total = sum(map(math.exp, logits))
    return -sum(math.exp(z) / total * math.log(math.exp(z) / total) for z in logits)


class ByHand:
    """T3A with lists that are sorted again for each batch."""

    def __init__(self, head: nn.Linear, filter_k: int) -> None:
        self.rows, self.bias, self.filter_k = head.weight.tolist(), head.bias.tolist(), filter_k
        self.supports: list[Support] = [
            [(entropy_by_hand(self.logits(row)), direction(row))] for row in self.rows
        ]
        self.length = sum(math.hypot(*row) for row in self.rows) / len(self.rows)

    def logits(self, feature: list[float]) -> list[float]:
        return [product(row, feature) + b for row, b in zip(self.rows, self.bias, strict=True)]

    def __call__(self, batch: list[list[float]]) -> list[list[float]]:
        for feature in batch:
            logits = self.logits(feature)
            entry = entropy_by_hand(logits), direction(feature)
            self.supports[logits.index(max(logits))].append(entry)
        self.supports = [
            sorted(support, key=lambda entry: entry[0])[: self.filter_k]
            for support in self.supports
        ]
        prototypes = [
            direction([sum(values) for values in zip(*(d for _, d in support), strict=True)])
            for support in self.supports
        ]
        return [[self.length * product(p, feature) for p in prototypes] for feature in batch]


@pytest.fixture
def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(6, 4)).double()


@pytest.mark.parametrize("batch", [1, 7, 40])
@pytest.mark.parametrize("filter_k", [1, 3, 100])
def test_it_is_what_sorted_lists_give(batch: int, filter_k: int, model: nn.Sequential) -> None:
    head = model[1]
    assert isinstance(head, nn.Linear)
    inputs = 2 * torch.randn(40, 6, dtype=torch.float64)
    slow, adapter = ByHand(head, filter_k), trimtab.adapt(model, "t3a", filter_k=filter_k)
    for part in inputs.split(batch):
        expected = torch.tensor(slow(part.tolist()), dtype=torch.float64)
        torch.testing.assert_close(adapter(part), expected)
    found = adapter.memory["prototype_classifier"]["entropies"]
    filled = (found < 10).sum(1).tolist()
    assert filled == [len(support) for support in slow.supports]


def test_support_never_grows_beyond_its_cap(model: nn.Sequential) -> None:
    adapter = trimtab.adapt(model, "t3a", filter_k=2)
    for _ in range(5):
        adapter(torch.randn(50, 6, dtype=torch.float64))
    assert adapter.memory["prototype_classifier"]["support"].shape == (4, 2, 6)


def test_certain_features_turn_a_prototype_towards_them(model: nn.Sequential) -> None:
    rule = PrototypeClassifier(filter_k=5)
    adapter = trimtab.adapt(model, trimtab.Method((rule,)))
    adapter.begin((6,))
    memory = adapter.memory[rule.name]
    row, feature = memory["support"][2, 0].clone(), torch.eye(6, dtype=torch.float64)[:1]
    certain = torch.tensor([[0.0, 0.0, 40.0, 0.0]], dtype=torch.float64)
    corrected = rule.correct(certain, step_with(certain, feature), memory)
    both = row + feature[0]
    expected = (both / both.norm())[0] * memory["length"]
    torch.testing.assert_close(corrected[0, 2], expected)


def test_a_cap_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="filter_k must be at least 1, got 0"):
        PrototypeClassifier(filter_k=0)
