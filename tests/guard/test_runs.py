"""Runs are told from biases by the order within a batch, at any batch size."""

from itertools import permutations

import pytest
import torch
from torch import Tensor

from trimtab.core.guard import correlation, runs
from trimtab.core.guard.settings import Guard, new_evidence

CLASSES, BATCH = 10, 64


def drawn(count: int, seed: int) -> Tensor:
    return torch.randint(CLASSES, (count,), generator=torch.Generator().manual_seed(seed))


def biased(favourite: int, seed: int, count: int = BATCH) -> Tensor:
    """Independent samples, two fifths of which and more are said to be of one class."""
    classes = drawn(count, seed)
    return torch.where(drawn(count, seed + 1) < 4, torch.full_like(classes, favourite), classes)


def in_runs(seed: int, run: int, samples: int) -> Tensor:
    """Runs of one class, of which a third is said to be of any class."""
    truth = drawn(samples // run + 1, seed).repeat_interleave(run)[:samples]
    return torch.where(torch.arange(samples) % 3 == 0, drawn(samples, seed + 1), truth)


def seen_along(classes: Tensor, batch: int = BATCH) -> list[bool]:
    """Whether runs are seen, after each batch."""
    evidence, seen = new_evidence(Guard(), only_corrects=False), []
    for part in classes.split(batch):
        logits = torch.nn.functional.one_hot(part, CLASSES).float()
        evidence = correlation.arrived(evidence, logits)
        seen.append(runs.are_seen(evidence))
    return seen


def test_deviations_are_those_over_all_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "REACH", 3)
    monkeypatch.setattr(runs, "pair_weights", runs.pair_weights.__wrapped__)
    said = torch.tensor([2, 2, 0, 0, 0, 1, 2])

    def alike(classes: Tensor) -> float:
        near = (classes[1:] == classes[:-1]).sum() * 2 / 3
        return float(near + (classes[2:] == classes[:-2]).sum() / 3)

    orders = torch.tensor([alike(said[list(p)]) for p in permutations(range(7))])
    expected = (alike(said) - orders.mean()) / orders.std(correction=0)
    assert runs.order_within(said) == pytest.approx(float(expected), rel=1e-4)


def test_independent_samples_have_the_stated_spread_however_biased() -> None:
    found = torch.tensor([runs.order_within(biased(3, 2 * seed)) for seed in range(400)])
    assert abs(float(found.mean())) < 0.15
    assert 0.85 < float(found.std()) < 1.15


@pytest.mark.parametrize("count", [1, 3, 64])
def test_one_class_alone_has_no_order(count: int) -> None:
    assert runs.order_within(torch.full((count,), 4)) == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_bias_that_changes_from_batch_to_batch_is_no_run(seed: int) -> None:
    """Order between batches is seen there: the other test takes it for correlation."""
    batches = [biased(n % 3, 1000 * seed + 2 * n) for n in range(100)]
    assert not any(seen_along(torch.cat(batches)))


@pytest.mark.parametrize("batch", [1, 7, 64, 200])
@pytest.mark.parametrize("run", [20, 100])
def test_runs_are_seen_soon(run: int, batch: int) -> None:
    seen = seen_along(in_runs(0, run, 4096), batch)
    known = 512 // batch
    assert sum(seen[known:]) >= 0.8 * len(seen[known:])


def test_a_run_of_one_class_that_begins_with_a_batch_is_seen_at_once() -> None:
    one = in_runs(0, 10**6, 384)
    one = torch.where(torch.arange(384) % 5 == 0, drawn(384, 1), one[1])
    seen = seen_along(torch.cat([drawn(512, 2), one]))
    assert not any(seen[:8])
    assert all(seen[8:])


def test_runs_that_end_are_not_assumed_any_longer() -> None:
    seen = seen_along(torch.cat([in_runs(0, 50, 1024), drawn(1024, 3)]))
    assert sum(seen[:16]) > 12
    assert sum(seen[16:]) <= 2
