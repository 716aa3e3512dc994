"""The memory that updates learn from."""

from dataclasses import replace
from math import log

import pytest
import torch
from torch import Tensor

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.class_balanced_memory import ClassBalancedMemory, Item, read
from trimtab.core.backbone import Tensors
from trimtab.core.component import Step

CLASSES = 4


def empty(rule: ClassBalancedMemory) -> Tensors:
    return {
        "inputs": torch.zeros(rule.size, 1),
        "items": torch.tensor([[-1.0, 0.0, 0.0, 0.0]], dtype=torch.float64).repeat(rule.size, 1),
        "arrived": torch.tensor(0),
    }


def coming(labels: list[int], certainty: float = 5.0, first: float = 0.0) -> Step:
    """Samples predicted to be of these classes; their inputs count up from ``first``."""
    logits = certainty * torch.eye(CLASSES)[labels]
    inputs = first + torch.arange(len(labels)).float()[:, None]
    return replace(step(logits), inputs=inputs)


def stored(memory: Tensors) -> list[Item]:
    return [item for item in read(memory) if item.label >= 0]


def test_a_newcomer_is_one_sample_old_once_it_is_stored() -> None:
    rule = ClassBalancedMemory(size=8)
    memory = empty(rule)
    list(rule.recall(coming([2]), memory))
    assert [(item.label, item.age) for item in stored(memory)] == [(2, 1)]
    list(rule.recall(coming([1]), memory))
    assert sorted((item.label, item.age) for item in stored(memory)) == [(1, 1), (2, 2)]


def test_a_newcomer_that_scores_the_same_is_rejected_and_all_age() -> None:
    rule = ClassBalancedMemory(size=4, timeliness_weight=0.0)  # one place a class
    memory = empty(rule)
    list(rule.recall(coming([0], first=7.0), memory))
    list(rule.recall(coming([0], first=8.0), memory))
    assert memory["inputs"][0] == 7
    assert [item.age for item in stored(memory)] == [2]


def test_an_older_sample_makes_room_for_a_newer_one_of_its_class() -> None:
    rule = ClassBalancedMemory(size=4)
    memory = empty(rule)
    list(rule.recall(coming([0, 0, 0], first=1.0), memory))
    assert len(stored(memory)) == 1  # a class has a share of one place
    assert memory["inputs"][0] == 3


def test_an_uncertain_newcomer_does_not_replace_a_certain_sample() -> None:
    rule = ClassBalancedMemory(size=4)
    memory = empty(rule)
    list(rule.recall(coming([0], certainty=9.0, first=1.0), memory))
    list(rule.recall(coming([0], certainty=0.5, first=2.0), memory))
    assert memory["inputs"][0] == 1


def test_a_full_memory_takes_a_rare_class_in_for_the_fullest_ones_worst_sample() -> None:
    rule = ClassBalancedMemory(size=6)  # a share of 1.5, so up to two samples a class
    memory = empty(rule)
    list(rule.recall(coming([0, 0, 1, 1, 2, 2]), memory))
    list(rule.recall(coming([3], first=100.0), memory))
    labels = sorted(item.label for item in stored(memory))
    assert labels == [0, 1, 1, 2, 2, 3]
    assert memory["inputs"][0] == 100  # the oldest sample of all was the worst


def obvious_memory(samples: list[tuple[int, float]], size: int) -> list[tuple[int, int, int]]:
    """(class, age, number) of what is stored in the end, by lists of samples for each class."""
    shelves: list[list[list[float]]] = [[] for _ in range(CLASSES)]

    def score(age: float, uncertainty: float) -> Tensor:
        return torch.sigmoid(torch.tensor(age / size).double()) + uncertainty / log(CLASSES)

    for number, (label, uncertainty) in enumerate(samples):
        total = sum(len(shelf) for shelf in shelves)
        if len(shelves[label]) < size / CLASSES:
            fullest = max(len(shelf) for shelf in shelves)
            candidates = [c for c in range(CLASSES) if len(shelves[c]) == fullest]
            free = total < size
        else:
            candidates, free = [label], False
        if not free:
            worst = None
            for c in candidates:
                for index, (_, uncertain, age) in enumerate(shelves[c]):
                    value = score(age, uncertain)
                    if worst is None or value >= worst[0]:
                        worst = (value, c, index)
            assert worst is not None
            free = bool(worst[0] > score(0, uncertainty))
            if free:
                shelves[worst[1]].pop(worst[2])
        if free:
            shelves[label].append([number, uncertainty, 0])
        for shelf in shelves:
            for item in shelf:
                item[2] += 1
    return [(c, int(i[2]), int(i[0])) for c in range(CLASSES) for i in shelves[c]]


@pytest.mark.parametrize("size", [3, 10, 16])
def test_a_long_stream_is_stored_as_by_an_obvious_version(size: int) -> None:
    rule = ClassBalancedMemory(size)
    memory = empty(rule)
    generator = torch.Generator().manual_seed(size)
    logits = 3 * torch.randn(150, CLASSES, generator=generator)
    logits[:, 0] += 1.5
    inputs = torch.arange(150.0)[:, None]
    list(rule.recall(replace(step(logits), inputs=inputs), memory))

    p = logits.softmax(1)
    uncertainty = -(p * (p + 1e-6).log()).sum(1)
    samples = list(zip(p.argmax(1).tolist(), uncertainty.tolist(), strict=True))
    expected = obvious_memory(samples, size)
    order = rule.order(memory)
    items = read(memory)
    found = [(items[i].label, items[i].age, int(memory["inputs"][i])) for i in order]
    assert found == expected


def test_an_update_is_due_each_time_so_many_samples_came() -> None:
    rule = ClassBalancedMemory(size=6, samples_per_update=4)
    memory = empty(rule)
    assert len(list(rule.recall(coming([0, 1, 2]), memory))) == 0
    assert len(list(rule.recall(coming([3]), memory))) == 1
    assert len(list(rule.recall(coming([0] * 9), memory))) == 2


def test_what_is_recalled_comes_by_class_and_older_samples_count_less() -> None:
    rule = ClassBalancedMemory(size=4)
    memory = empty(rule)
    (recalled,) = rule.recall(coming([3, 1, 0, 2]), memory)
    assert recalled.flatten().tolist() == [2, 1, 3, 0]
    ages = torch.tensor([2.0, 3.0, 1.0, 4.0])
    expected = (-ages / 4).exp() / (1 + (-ages / 4).exp())
    torch.testing.assert_close(rule.weights(coming([0] * 4), memory), expected)


def test_stored_samples_are_copies() -> None:
    rule = ClassBalancedMemory(size=4)
    memory = empty(rule)
    arriving = coming([0, 1])
    list(rule.recall(arriving, memory))
    arriving.inputs.fill_(-1)
    assert (memory["inputs"] >= 0).all()


def test_any_method_can_learn_from_the_memory(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "tent + class_balanced_memory(size=16)")
    for batch in images.split(5):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 96 // 16


def test_a_memory_must_hold_a_sample() -> None:
    with pytest.raises(ValueError, match="size must be at least 1 sample, got 0"):
        ClassBalancedMemory(0)
    with pytest.raises(ValueError, match="samples_per_update must be at least 1, got 0"):
        ClassBalancedMemory(samples_per_update=0)
