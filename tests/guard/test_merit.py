"""How a guard weighs what two models say of the same samples, without labels."""

import pytest
import torch
from torch import Tensor

from trimtab.core.guard.merit import Said, usual_classes

CLASSES = 10
NONE = torch.zeros(0, 2)
EVEN = torch.full((CLASSES,), 1 / CLASSES)


def said(own: list[int], source: list[int]) -> Said:
    """Each class as often as listed for it, the source's in order, the adapted model's as well."""
    each = [torch.arange(CLASSES).repeat_interleave(torch.tensor(n)) for n in (own, source)]
    return Said(each[0], each[1], NONE, CLASSES)


def harms(models: Said) -> Tensor:
    """Where both models are stable."""
    stable = torch.ones(len(models.own), dtype=torch.bool)
    return models.harms(stable, stable, None)


def test_where_models_agree_there_is_no_harm_however_unstable() -> None:
    models = Said(torch.arange(4), torch.tensor([0, 1, 2, 9]), NONE, CLASSES)
    found = models.harms(torch.zeros(4).bool(), torch.ones(4).bool(), None)
    assert found[:3].tolist() == [0, 0, 0]
    assert found[3] > 0.5


def test_a_collapse_beside_a_source_that_shows_half_of_the_classes_is_no_merit() -> None:
    """As seen where a broken sensor had spoiled a batch-norm network."""
    source = [1, 5, 6, 26, 3, 4, 1, 1, 15, 2]
    collapsed = [6, 0, 58, 0, 0, 0, 0, 0, 0, 0]
    assert harms(said(collapsed, source)).mean() > 0.15


def test_a_run_that_the_source_shows_too_may_be_concentrated_on() -> None:
    source = [2, 54, 0, 1, 0, 4, 1, 1, 0, 1]
    assert harms(said([0, 64, 0, 0, 0, 0, 0, 0, 0, 0], source)).mean() <= 0.0


MIXED = [4, 3, 3, 4, 2, 5, 8, 3, 27, 5]
"""As a batch-norm network's source says of mixed domains, of which it sees some as one class."""


@pytest.mark.parametrize(("usually", "doubted"), [(27 / 64, True), (0.1, False)])
def test_a_source_that_says_one_class_all_the_time_is_doubted_there(
    usually: float, doubted: bool
) -> None:
    """Where it says that class suddenly, it may see a run."""
    usual = torch.full((CLASSES,), (1 - usually) / (CLASSES - 1))
    usual[8] = usually
    doubts = said([6] * 8 + [8, 8], MIXED).biased(usual)
    assert (float(doubts[8]) > 0.5) is doubted
    assert float(doubts[:8].max()) < 0.1
    alone = [0] * 8 + [64, 0]
    assert float(said([6] * 8 + [8, 8], alone).biased(usual).max()) == 0


def leaving(share: int) -> tuple[Said, Tensor]:
    """60 of 64 samples are of class 1 for the source, and ``share`` of them for the other model,
    which is as stable; harms before a run is taken into account."""
    source = torch.tensor([1] * 60 + [4, 5, 6, 7])
    own = source.clone()
    own[share:60] = torch.arange(60 - share) % CLASSES
    own[own == 1] = 2
    own[:share] = 1
    models = Said(own, source, NONE, CLASSES)
    return models, harms(models)


def test_what_departs_from_a_run_that_both_models_see_is_wrong() -> None:
    models, plain = leaving(51)
    found = models.in_a_run(plain, EVEN, 0.0)
    assert plain.mean() < 0.02
    assert found[51:60].tolist() == [1.0] * 9
    assert found[:51].tolist() == [0.0] * 51


def test_a_class_that_is_always_frequent_is_no_run() -> None:
    models, plain = leaving(51)
    usual = torch.full((CLASSES,), 0.02)
    usual[1] = 0.82
    assert torch.equal(models.in_a_run(plain, usual, 0.0), plain)


@pytest.mark.parametrize(("certain", "wrong"), [(1.0, True), (0.0, False), (-1.0, False)])
def test_a_run_that_the_source_alone_sees_counts_where_it_is_no_collapse(
    certain: float, wrong: bool
) -> None:
    models, plain = leaving(10)
    found = models.in_a_run(plain, EVEN, torch.full((CLASSES,), certain))
    assert bool((found[10:60] == 1).all()) == wrong
    assert wrong or torch.equal(found, plain)


def test_joining_a_run_is_right() -> None:
    models, plain = leaving(51)
    other = Said(models.source, models.own, NONE, CLASSES)
    assert (other.in_a_run(-plain, EVEN, 0.0)[51:60] == -1).all()


def test_the_usual_is_a_mean_of_the_first_samples_and_then_moves_slowly() -> None:
    zeros, ones = torch.zeros(8, dtype=torch.long), torch.ones(8, dtype=torch.long)
    known = usual_classes(torch.zeros(0), zeros, 2, 0)
    known = usual_classes(known, ones, 2, 8)
    assert known.tolist() == [0.5, 0.5]
    late = usual_classes(known, ones, 2, 192)
    assert late.tolist() == pytest.approx([0.5 - 4 / 1024, 0.5 + 4 / 1024])
