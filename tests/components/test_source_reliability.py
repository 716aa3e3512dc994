"""An uncertain source is not returned to."""

import math

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.source_reliability import SourceReliability, reliability


def reliability_by_hand(logits: Tensor) -> float:
    classes = logits.shape[1]
    rows = [row.softmax(0).tolist() for row in logits]
    entropies = [-sum(p * math.log(p) for p in row) for row in rows]
    return 1 - sum(entropies) / len(entropies) / math.log(classes)


def test_reliability_is_what_is_missing_to_the_largest_entropy() -> None:
    logits = torch.randn(12, 5, generator=torch.Generator().manual_seed(0))
    assert reliability(logits) == pytest.approx(reliability_by_hand(logits), abs=1e-6)
    assert reliability(torch.zeros(3, 5)) == pytest.approx(0, abs=1e-6)
    assert reliability(100 * torch.eye(5)) == pytest.approx(1, abs=1e-6)


def test_the_pull_of_an_update_is_scaled(model: nets.Net, images: Tensor) -> None:
    specs = ("tent", "tent + source_ensembling(momentum=0.5)")
    free, pulled = (trimtab.adapt(model, spec) for spec in specs)
    scaled = trimtab.adapt(model, f"{specs[1]} + source_reliability")
    for adapter in (free, pulled, scaled):
        adapter(images[:32])
    trust = scaled.beliefs["source_reliability"]["trust"]
    assert 0 < trust < 1
    for name, param in scaled.params.items():
        expected = free.params[name].lerp(pulled.params[name], trust)
        torch.testing.assert_close(param, expected)


def test_the_source_passes_once_for_all_who_ask(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "tent + source_reliability + selective_reset")
    adapter(images[:16])
    assert adapter.counters.forward_samples == 2 * 16


def test_a_penalty_that_pulls_is_scaled_too(model: nets.Net, images: Tensor) -> None:
    options = {"source_data": [images[:16]], "max_entropy": 1.0, "max_similarity": 1.0}
    eata = trimtab.build("eata", fisher_weight=1e4, **options)
    lost = eata.plus(SourceReliability(power=1e9))  # trusts nothing
    free = trimtab.build("eata", fisher_weight=0.0, **options)
    found = []
    for method in (eata, lost, free):
        adapter = trimtab.adapt(model, method)
        for batch in images[:64].split(32):
            adapter(batch)
        found.append(torch.cat([p.detach().flatten() for p in adapter.params.values()]))
    torch.testing.assert_close(found[1], found[2])
    assert not torch.allclose(found[0], found[2])


def test_a_power_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="power must be positive, got 0"):
        SourceReliability(0)
