"""Restoring single weights by chance."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.stochastic_restore import StochasticRestore


def memory_of(probability: float, seed: int = 0) -> dict[str, Tensor]:
    return {
        "probability": torch.tensor(probability),
        "generator": torch.Generator().manual_seed(seed).get_state(),
    }


def restored(memory: dict[str, Tensor]) -> Tensor:
    """Which of ten thousand weights an update restores."""
    params, source = {"w": torch.ones(10_000)}, {"w": torch.zeros(10_000)}
    StochasticRestore().after_update(params, source, memory)
    return params["w"] == 0


def test_about_the_chosen_share_of_weights_is_restored() -> None:
    assert 0.27 < restored(memory_of(0.3)).float().mean() < 0.33
    assert restored(memory_of(1.0)).all()
    assert not restored(memory_of(0.0)).any()


def test_each_update_restores_others_and_the_memory_decides_which() -> None:
    memory, again = memory_of(0.3), memory_of(0.3)
    first, second = restored(memory), restored(memory)
    assert not torch.equal(first, second)
    assert torch.equal(restored(again), first)
    assert torch.equal(restored(again), second)


@pytest.mark.parametrize(("side", "expected"), [(16, 0.01), (80, 0.001)])
def test_small_images_restore_ten_times_as_often(side: int, expected: float) -> None:
    adapter = trimtab.adapt(nets.net("gn"), "tent + stochastic_restore")
    adapter.begin((3, side, side))
    assert adapter.memory["stochastic_restore"]["probability"] == torch.tensor(expected)


def test_the_probability_is_checked() -> None:
    with pytest.raises(ValueError, match=r"probability must lie in \[0, 1\], got -1"):
        StochasticRestore(-1)
