"""Runs of classes that batch norms erase without a trace: no class stands out of a batch."""

from typing import Any

import pytest
import torch
from torch import Tensor

from noisy_logits import noisy
from trimtab.core.backbone import Tensors
from trimtab.core.guard import betting, erased
from trimtab.core.guard.judging import arrived
from trimtab.core.guard.look import Look
from trimtab.core.guard.settings import Guard, new_evidence
from trimtab.core.guard.watch import Watch

CLASSES, COUNT = 10, 64


def unused(*_: Any) -> Any:
    raise AssertionError("no pass is made")


WATCH = Watch(Guard(), attempt=unused)


class Stream:
    """What two models say of made-up samples; both are as stable under views as each other."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)

    def cloud(self) -> Tensor:
        return torch.randn(COUNT, CLASSES, generator=self.random)

    def classes(self) -> Tensor:
        return torch.randint(CLASSES, (COUNT,), generator=self.random)

    def look(self, own: Tensor, source: Tensor, stretched: Tensor | None = None) -> Look:
        shuffled = None if stretched is None else self.cloud()
        return Look(
            own,
            source,
            own + 0.5 * self.cloud(),
            source + 0.5 * self.cloud(),
            source_shuffled=shuffled,
            source_stretched=stretched,
        )

    def run(self, number: int) -> Look:
        """One class, of which batch norms leave nothing: the adapted model says anything."""
        truth = torch.full((COUNT,), (number // 3) % CLASSES)
        return self.look(self.cloud(), 2 * torch.eye(CLASSES)[truth] + self.cloud())

    def bias(self, number: int) -> Look:
        """Independent classes, and a source that says one of them of most samples."""
        truth = self.classes()
        biased = self.cloud() + 2 * torch.eye(CLASSES)[3]
        return self.look(3 * torch.eye(CLASSES)[truth] + self.cloud(), biased)

    def veil(self, number: int) -> Look:
        """The same, and the adapted model hardly knows better; full contrast tells that the
        source sees a veil."""
        biased = self.cloud() + 2 * torch.eye(CLASSES)[3]
        return self.look(self.cloud(), biased, stretched=noisy(self.classes(), CLASSES))


def weighed(evidence: Tensors, look: Look, tells: bool = True) -> Tensors:
    return WATCH.weighed(arrived(evidence, look.adapted, coupled=tells), look, cost=0)


def first_alarm(seed: int, kind: str, batches: int, tells: bool = True) -> int | None:
    stream, evidence = Stream(seed), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(batches):
        evidence = weighed(evidence, getattr(stream, kind)(number), tells)
        if betting.evidence(evidence["wealth"]) >= WATCH.guard.alarm:
            return number
    return None


@pytest.mark.parametrize("seed", range(4))
def test_runs_of_which_nothing_is_left_are_harm_within_two_batches(seed: int) -> None:
    alarm = first_alarm(seed, "run", 2)
    assert alarm is not None
    assert first_alarm(seed, "run", 2, tells=False) is None


@pytest.mark.parametrize("kind", ["bias", "veil"])
@pytest.mark.parametrize("seed", range(3))
def test_a_biased_or_veiled_source_is_no_run(kind: str, seed: int) -> None:
    assert first_alarm(seed, kind, 30) is None


def test_glances_tell_harm_where_runs_are_erased() -> None:
    stream, evidence = Stream(0), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(12):
        run = stream.run(number)
        glance = Look(run.adapted[::8], run.source[::8])
        evidence = arrived(evidence, run.adapted, coupled=True)
        evidence = WATCH.weighed(evidence, glance, cost=0)
    assert betting.evidence(evidence["wealth"]) >= WATCH.guard.alarm


def certainty(logits: Tensor, size: int = COUNT) -> float:
    evidence = new_evidence(WATCH.guard, only_corrects=False)
    for batch in logits.split(size):
        evidence = erased.arrived(evidence, batch)
    return erased.certainty(evidence, logits.shape[1])


@pytest.mark.parametrize("size", [1, 7, 64, 200])
@pytest.mark.parametrize("classes", [4, 10, 21])
def test_it_is_known_of_batches_of_any_size(size: int, classes: int) -> None:
    truth = torch.arange(400) % classes
    many = noisy(truth[torch.randperm(400, generator=torch.Generator().manual_seed(0))], classes)
    one = noisy(torch.zeros(400, dtype=torch.long), classes)
    assert certainty(many, size) == 0
    assert certainty(one, size) == 1


@pytest.mark.parametrize("classes", [2, 3, 22, 1000])
def test_nothing_is_said_of_too_few_or_too_many_classes(classes: int) -> None:
    assert certainty(noisy(torch.zeros(256, dtype=torch.long), classes)) == 0


def test_a_few_samples_do_not_tell_yet_and_segments_never_do() -> None:
    assert certainty(noisy(torch.zeros(31, dtype=torch.long), CLASSES)) == 0
    evidence = new_evidence(WATCH.guard, only_corrects=False)
    assert erased.arrived(evidence, torch.randn(2, CLASSES, 4, 4)) is evidence
