"""What the source model is asked beside a look: its habit at first, then what is suspicious."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.guard.look import Look
from trimtab.core.guard.questions import HABIT_SAMPLES, questions
from trimtab.core.guard.settings import Guard, new_evidence

CLASSES, COUNT = 10, 64
SCATTERED = torch.arange(COUNT) % CLASSES
ONE = torch.full((COUNT,), 3)


def saying(classes: Tensor) -> Tensor:
    return 5 * torch.nn.functional.one_hot(classes, CLASSES).float()


def after(samples: int) -> Tensors:
    evidence = new_evidence(Guard(), only_corrects=False)
    return evidence | {"looked_at": torch.tensor(float(samples))}


@pytest.mark.parametrize(("source", "suspicious"), [(ONE, True), (SCATTERED, False)])
def test_at_the_beginning_all_samples_show_the_habit(source: Tensor, suspicious: bool) -> None:
    wanted = questions(Look(saying(SCATTERED), saying(source)), after(0))
    assert wanted.shuffled
    assert wanted.stretched is suspicious
    assert wanted.asked is None


def test_later_only_samples_of_suspicious_classes_are_asked() -> None:
    source = torch.cat([ONE[:40], SCATTERED[40:]])
    wanted = questions(Look(saying(SCATTERED), saying(source)), after(HABIT_SAMPLES))
    assert wanted.shuffled
    assert wanted.stretched
    assert wanted.asked is not None
    assert torch.equal(wanted.asked, source == 3)


def test_later_nothing_is_asked_of_what_is_not_suspicious_or_agreed_on() -> None:
    usual = Look(saying(SCATTERED), saying(SCATTERED))
    agreed = replace(Look(saying(SCATTERED), saying(ONE)), agreed=True)
    for look in (usual, agreed):
        wanted = questions(look, after(HABIT_SAMPLES))
        assert not wanted.shuffled
        assert not wanted.stretched
