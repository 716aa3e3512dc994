"""Runs of classes that batch norms erase are told from a biased source model."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard import betting, order
from trimtab.core.guard.look import Look
from trimtab.core.guard.settings import Guard, new_evidence
from trimtab.core.guard.watch import Watch

CLASSES, COUNT = 10, 64


def unused(*_: Any) -> Any:
    raise AssertionError("no pass is made")


WATCH = Watch(Guard(), attempt=unused)


def logits(classes: Tensor) -> Tensor:
    return 5 * torch.nn.functional.one_hot(classes, CLASSES).float()


class Models:
    """What two models say of made-up samples, and of views of these."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)

    def said(self, truth: Tensor, right: float) -> Tensor:
        """The truth of this share of samples, and of the others any class."""
        kept = torch.rand(len(truth), generator=self.random) < right
        return torch.where(kept, truth, self.classes(len(truth)))

    def classes(self, count: int) -> Tensor:
        return torch.randint(CLASSES, (count,), generator=self.random)

    def look(self, own: Tensor, source: Tensor) -> Look:
        """Both are as stable under views as each other."""
        views = (self.said(each, 0.8) for each in (own, source))
        adapted, known, adapted_view, source_view = map(logits, (own, source, *views))
        return Look(adapted, known, adapted_view, source_view)

    def erased_run(self, number: int) -> Look:
        """A batch of one class: batch norms leave little of it to the adapted model."""
        truth = torch.full((COUNT,), (3 * (number // 3)) % CLASSES)
        return self.look(self.said(truth, 0.15), self.said(truth, 0.5))

    def biased(self, number: int) -> Look:
        """Classes come independently, and the source says one of them of half of the samples."""
        truth = self.classes(COUNT)
        source = torch.where(self.classes(COUNT) < 5, torch.full_like(truth, 3), truth)
        return self.look(self.said(truth, 0.8), source)


def weighed(evidence: Tensors, look: Look, follows: bool = True) -> Tensors:
    evidence = order.arrived(evidence, look.adapted) if follows else evidence
    return WATCH.weighed(evidence, look, cost=0)


def first_alarm(models: Models, kind: str, batches: int, follows: bool = True) -> int | None:
    evidence = new_evidence(WATCH.guard, only_corrects=False)
    for number in range(batches):
        evidence = weighed(evidence, getattr(models, kind)(number), follows)
        if betting.evidence(evidence["wealth"]) >= WATCH.guard.alarm:
            return number
    return None


@pytest.mark.parametrize("seed", range(4))
def test_runs_that_the_adapted_model_erases_are_harm(seed: int) -> None:
    alarm = first_alarm(Models(seed), "erased_run", 12)
    assert alarm is not None
    assert first_alarm(Models(seed), "erased_run", alarm + 1, follows=False) is None


@pytest.mark.parametrize("follows", [True, False])
def test_where_classes_come_in_runs_glances_tell_harm_without_views(follows: bool) -> None:
    """Looks may all be spent when harm begins; glances never are."""
    models, evidence = Models(0), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(30):
        run = models.erased_run(number)
        glance = Look(run.adapted[::8], run.source[::8])
        evidence = order.arrived(evidence, run.adapted) if follows else evidence
        evidence = WATCH.weighed(evidence, glance, cost=0)
    assert (betting.evidence(evidence["wealth"]) >= WATCH.guard.alarm) is follows


def test_a_biased_source_is_no_order() -> None:
    """However many looks are taken, deviations are those of chance, and there is no alarm."""
    found = []
    for seed in range(4):
        models, evidence = Models(seed), new_evidence(WATCH.guard, only_corrects=False)
        for number in range(60):
            evidence = weighed(evidence, models.biased(number))
            found.append(order.strength(evidence))
        assert first_alarm(Models(seed), "biased", 60) is None
    strengths = torch.tensor(found)
    assert float(strengths.mean()) < 0
    assert float(strengths.std()) < 1.2
    assert float((strengths > order.LEAST).float().mean()) < 0.02


def test_classes_that_come_unevenly_but_in_no_order_are_soon_the_usual() -> None:
    models, evidence = Models(0), new_evidence(WATCH.guard, only_corrects=False)
    for _ in range(80):
        truth = torch.minimum(models.classes(COUNT), models.classes(COUNT))
        look = models.look(models.said(truth, 0.6), models.said(truth, 0.7))
        evidence = weighed(evidence, look)
    assert order.strength(evidence) < order.LEAST


def test_neighbours_of_small_batches_are_those_before_them() -> None:
    models, evidence = Models(0), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(12):
        look = models.erased_run(number)
        for part in range(0, COUNT, 4):
            rows = slice(part, part + 4)
            small = Look(look.adapted[rows], look.source[rows], agreed=True)
            evidence = weighed(evidence, small)
    assert order.strength(evidence) > order.SURE
    assert len(evidence["lately"]) == order.NEIGHBOURS


def test_corrections_of_outputs_and_segments_are_not_followed() -> None:
    evidence = new_evidence(WATCH.guard, only_corrects=False)
    look = Models(0).erased_run(0)
    followed = order.arrived(evidence, look.adapted)
    assert order.strength(order.compared(followed, look)) != 0
    assert order.strength(order.compared(followed, replace(look, corrects=True))) == 0
    assert order.arrived(evidence, look.adapted[..., None, None]) is evidence
