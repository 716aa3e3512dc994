"""Glances call for a look where the models begin to differ, and where classes begin to come in
runs that only the source model shows."""

import torch
from torch import Tensor

from trimtab.core.guard.glance import CALL, GLANCE_SAMPLES, SIGNS, SLACK, added_up, places, signs
from trimtab.core.guard.look import COLUMNS

CLASSES = 10


def rows(own: Tensor, source: Tensor) -> Tensor:
    made = torch.zeros(len(own), len(COLUMNS))
    for name, values in {"class": own, "source_class": source, "agreement": own == source}.items():
        made[:, COLUMNS.index(name)] = values.float()
    return made


def independent(count: int, seed: int) -> Tensor:
    return torch.randint(CLASSES, (count,), generator=torch.Generator().manual_seed(seed))


def after_glances(glance: Tensor, ring: Tensor, count: int, last_look: Tensor) -> float:
    sums = torch.zeros(SIGNS, dtype=torch.float64)
    for _ in range(count):
        sums = added_up(sums, glance, ring, last_look)
    return float(sums.sum())


NOTHING = torch.zeros(SIGNS, dtype=torch.float64)


def test_the_usual_never_calls() -> None:
    said = independent(256, 0)
    ring = rows(said, said)
    assert after_glances(ring[:GLANCE_SAMPLES], ring, 100, NOTHING) == 0


def test_models_that_begin_to_differ_call() -> None:
    said = independent(256, 0)
    glance = rows(said[:8], (said[:8] + 1) % CLASSES)
    assert after_glances(glance, rows(said, said), 1, NOTHING) >= CALL


def test_a_run_that_only_the_source_shows_calls_though_the_models_differ_no_more() -> None:
    own, source = independent(256, 0), independent(256, 1)
    usual = rows(own, source)
    run = rows(torch.arange(8), torch.full((8,), 3))
    assert float(signs(run)[0]) < float(signs(usual)[0]) + SLACK
    assert after_glances(run, usual, 1, NOTHING) >= CALL


def test_what_a_look_has_cleared_is_no_news() -> None:
    said = independent(256, 0)
    glance = rows(said[:8], (said[:8] + 1) % CLASSES)
    assert after_glances(glance, rows(said, said), 9, signs(glance)) == 0


def test_pairs_are_counted_without_a_sample_itself() -> None:
    assert float(signs(rows(torch.arange(4), torch.tensor([1, 1, 2, 2])))[1]) * 6 == 2
    assert float(signs(rows(torch.zeros(1), torch.zeros(1)))[1]) == 0


def test_all_samples_of_a_batch_have_their_turn() -> None:
    numbers = torch.arange(64)
    seen = torch.cat([numbers[places(64, batch, 8)] for batch in range(8)])
    assert sorted(seen.tolist()) == numbers.tolist()
    assert len(torch.arange(5)[places(5, 3, 8)]) == 5
