"""EATA: ETA held by what the source task needs."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


def test_without_source_data_the_error_offers_eta() -> None:
    with pytest.raises(ValueError, match=r"eata needs source_data=.* use 'eta'"):
        trimtab.build("eata")


def distance(adapter: trimtab.Adapter) -> float:
    moved = {name: p.detach() - adapter.source[name] for name, p in adapter.params.items()}
    return sum(float(m.square().sum()) for m in moved.values())


@pytest.mark.parametrize("norm", ["ln"])
def test_a_heavier_fisher_term_stays_nearer_to_the_source(model: nets.Net, images: Tensor) -> None:
    source_data = [images[:48], images[48:]]
    distances = []
    for weight in (0.0, 1e4, 1e6):
        adapter = trimtab.adapt(model, "eata", source_data=source_data, fisher_weight=weight)
        for batch in images.split(16):
            adapter(batch)
        distances.append(distance(adapter))
    assert distances[0] > distances[1] > distances[2]


def test_without_weight_it_is_eta(model: nets.Net, images: Tensor) -> None:
    eata = trimtab.adapt(model, "eata", source_data=[images[:16]], fisher_weight=0.0)
    eta = trimtab.adapt(model, "eta")
    for batch in images.split(16):
        assert torch.equal(eata(batch), eta(batch))


@pytest.mark.parametrize("norm", ["bn"])
def test_the_fisher_term_survives_reset_and_restore(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "eata", source_data=[images[:16]])
    adapter(images[:16])
    fisher = adapter.memory["fisher_penalty"]
    adapter.reset()
    other = trimtab.adapt(model, "eata", source_data=[images[32:48]])
    other.load_state_dict(adapter.state_dict())
    for later in (adapter.memory, other.memory):
        assert all(torch.equal(later["fisher_penalty"][name], fisher[name]) for name in fisher)
