"""What a card says of a method's cost is what the counters count."""

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.core import gradients
from trimtab.core.attempt import Attempt
from trimtab.core.card import Card
from trimtab.core.component import Step
from trimtab.functional import entropy


@dataclass(frozen=True)
class Seen:
    """What one batch held."""

    samples: int
    kept: int
    certain: int
    """Samples with less than half of the largest entropy."""
    batch_norm: bool


WORDS: dict[str, Callable[[Seen], int]] = {
    "0": lambda seen: 0,
    "1": lambda seen: seen.samples,
    "2": lambda seen: 2 * seen.samples,
    "3": lambda seen: 3 * seen.samples,
    "5": lambda seen: 5 * seen.samples,
    "32": lambda seen: 32 * seen.samples,
    "33": lambda seen: 33 * seen.samples,
    "34": lambda seen: 34 * seen.samples,
    "1 for each kept sample": lambda seen: seen.kept,
    "2 for each kept sample": lambda seen: 2 * seen.kept,
    "1 and one more for each kept sample": lambda seen: seen.samples + seen.kept,
    "2 and one more for each kept sample": lambda seen: 2 * seen.samples + seen.kept,
    "1 and one more for each certain sample": lambda seen: seen.samples + seen.certain,
    "1 and one more where a sample is kept": lambda seen: (
        seen.samples + (seen.samples if seen.batch_norm and seen.kept else seen.kept)
    ),
}
"""By the words of a card, without what stands in brackets: images through the network."""


def card(method: str) -> Card:
    found = importlib.import_module(f"trimtab.methods.{method}").CARD
    assert isinstance(found, Card)
    return found


def words(cost: str) -> str:
    return cost.partition(" (")[0]


MEASURED = [
    m
    for m in trimtab.METHODS
    if {words(card(m).forwards), words(card(m).backwards)} <= WORDS.keys()
]


def test_most_cards_use_words_that_can_be_measured() -> None:
    assert {"bn1", "bn_ema", "cmf", "deyo", "eata", "eta", "lame", "rdumb"} <= set(MEASURED)
    assert {"roid", "rpl", "sar", "source", "tent"} <= set(MEASURED)
    assert {"adacontrast", "cotta", "memo", "rmt", "santa"} <= set(MEASURED)


@pytest.mark.parametrize("method", MEASURED)
def test_counters_agree_with_the_card(
    method: str, norm: str, model: nets.Net, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"source_data": [images[:16]]} if method == "eata" else {}
    adapter = trimtab.adapt(model, method, **options)
    adapter.begin((3, 16, 16))
    begun = adapter.counters  # to begin may cost passes of its own
    kept, certain, weigh = [], [], gradients.weights_of

    def noting(attempt: Attempt, step: Step) -> Tensor:
        weights = weigh(attempt, step)
        kept.append(int((weights > 0).sum()))
        certain.append(int((entropy(step.logits.detach()) < 0.5 * math.log(7)).sum()))
        return weights

    monkeypatch.setattr(gradients, "weights_of", noting)
    expected = torch.zeros(2)
    for batch in images[:48].split(16):
        kept.clear()
        certain.clear()
        adapter(batch)
        seen = Seen(16, sum(kept), sum(certain), norm == "bn")
        costs = card(method).forwards, card(method).backwards
        expected += torch.tensor([float(WORDS[words(cost)](seen)) for cost in costs])
    forwards = adapter.counters.forward_samples - begun.forward_samples
    backwards = adapter.counters.backward_samples - begun.backward_samples
    assert [forwards, backwards] == expected.tolist()
