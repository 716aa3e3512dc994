"""A batch that repeats one frame is no batch, and batch norms have nothing to go by."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from trimtab import Guard
from trimtab.core.adapter import Adapter
from trimtab.core.guard.stuck import is_stuck


def frames(count: int, copies: int = 1, seed: int = 0) -> Tensor:
    """Images, each of them several times."""
    random = torch.Generator().manual_seed(seed)
    return torch.rand(count, 3, 8, 8, generator=random).repeat_interleave(copies, 0)


@pytest.mark.parametrize(
    ("batch", "stuck"),
    [
        (frames(32), False),
        (frames(1, 32), True),
        (frames(2, 16), True),
        (torch.cat([frames(12), frames(1, 20, seed=1)]), True),
        (torch.cat([frames(24), frames(1, 8, seed=1)]), False),
        (frames(1), False),
        (frames(32, 2)[torch.arange(64).roll(1) % 2 == 0].repeat(2, 1, 1, 1), False),
        (torch.zeros(8, 5), False),
    ],
)
def test_most_frames_are_the_one_before(batch: Tensor, stuck: bool) -> None:
    assert is_stuck(batch) is stuck


def test_frames_that_share_a_row_of_pixels_are_different() -> None:
    batch = frames(16)
    batch[:, :, 4] = 0.5
    assert not is_stuck(batch)


def network(norm: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), norm, nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))


def started(norm: nn.Module, guard: Guard | bool = True) -> Adapter:
    adapter = trimtab.adapt(network(norm), "tent", guard=guard)
    adapter(frames(16, seed=1))
    return adapter


def test_the_source_answers_a_stuck_batch_and_nothing_is_learned_from_it() -> None:
    adapter, stuck = started(nn.BatchNorm2d(4)), frames(1, 16)
    before = {name: p.clone() for name, p in adapter.state.params.items()}
    with torch.no_grad():
        expected = adapter.backbone(stuck).logits
    assert torch.equal(adapter.predict(stuck), expected)
    assert torch.equal(adapter(stuck), expected)
    assert all(torch.equal(p, before[name]) for name, p in adapter.state.params.items())
    assert adapter.counters.samples == 32
    assert adapter.counters.updates == 1


@pytest.mark.parametrize(
    ("norm", "guard"), [(nn.GroupNorm(1, 4), True), (nn.BatchNorm2d(4), Guard(acts=False))]
)
def test_without_batch_norms_or_a_guard_that_acts_it_is_a_batch_as_any(
    norm: nn.Module, guard: Guard | bool
) -> None:
    adapter = started(norm, guard)
    adapter(frames(1, 16))
    assert adapter.counters.updates == 2
