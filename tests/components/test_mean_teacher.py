"""Learning from a slow average of oneself."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.core import optimizer
from trimtab.core.backbone import Tensors
from trimtab.core.prediction import Prediction


def test_the_teacher_keeps_the_momentum_of_its_weights() -> None:
    memory, params = {"w": torch.tensor([1.0])}, {"w": torch.tensor([2.0])}
    MeanTeacher(momentum=0.9).after_update(params, {}, memory)
    torch.testing.assert_close(memory["w"], torch.tensor([1.1]))


def test_outputs_are_the_teachers_or_the_sum_of_both() -> None:
    student, teacher = torch.randn(4, 3), torch.randn(4, 3)
    seen = replace(step(student), targets={"mean_teacher": {"logits": teacher}})
    assert torch.equal(MeanTeacher().correct(student, seen, {}), teacher)
    assert torch.equal(MeanTeacher(returns="sum").correct(student, seen, {}), student + teacher)


def test_the_loss_is_the_cross_entropy_against_the_teacher() -> None:
    student, teacher = torch.randn(4, 3), torch.randn(4, 3)
    seen = replace(step(student), targets={"mean_teacher": {"logits": teacher}})
    p, q = student.log_softmax(1), teacher.log_softmax(1)
    plain, reverse = -(q.exp() * p).sum(1), -(p.exp() * q).sum(1)
    torch.testing.assert_close(MeanTeacher().loss(seen, {}), plain)
    torch.testing.assert_close(MeanTeacher(symmetric=True).loss(seen, {}), (plain + reverse) / 2)


def test_by_default_large_images_have_a_symmetric_loss() -> None:
    rule = MeanTeacher(symmetric=None)
    student, teacher = torch.randn(2, 3), torch.randn(2, 3)
    seen = replace(step(student), targets={rule.name: {"logits": teacher}})
    small, large = (replace(seen, inputs=torch.zeros(2, 3, side, side)) for side in (64, 65))
    assert torch.equal(rule.loss(small, {}), MeanTeacher(symmetric=False).loss(small, {}))
    assert torch.equal(rule.loss(large, {}), MeanTeacher(symmetric=True).loss(large, {}))


def test_an_augmented_student_learns_by_half_from_its_view() -> None:
    rule = MeanTeacher(augmented_student=True)
    student, view, teacher = torch.randn(3, 4, 3)
    seen = replace(
        step(student),
        forward=lambda inputs, params=None: Prediction(view, None),  # type: ignore[arg-type]
        views={rule.name: torch.zeros(4, 1)},
        targets={rule.name: {"logits": teacher}},
    )
    q = teacher.softmax(1)
    both = -(q * student.log_softmax(1)).sum(1), -(q * view.log_softmax(1)).sum(1)
    torch.testing.assert_close(rule.loss(seen, {}), (both[0] + both[1]) / 2)


@pytest.mark.parametrize(("confidence", "passes"), [(0.9, 1), (0.91, 3)])
def test_the_teacher_takes_several_views_of_what_the_source_is_unsure_of(
    confidence: float, passes: int
) -> None:
    """The source says 0.85 and 0.95: 0.9 on average."""
    rule = MeanTeacher(views_of_teacher=3, min_confidence=confidence, augment=lambda x: x + 1)
    shown: list[Tensor] = []

    def forward(inputs: Tensor, params: Tensors | None = None) -> Prediction:
        if not params:
            return Prediction(
                torch.tensor([[0.85, 0.15], [0.95, 0.05]], dtype=torch.double).log(), None
            )
        shown.append(inputs)
        return Prediction(torch.full((2, 2), float(len(shown))), None)

    seen = replace(step(torch.zeros(2, 2)), forward=forward)  # type: ignore[arg-type]
    targets = rule.targets(seen, {"w": torch.zeros(1)})
    assert len(shown) == passes
    assert all(bool((view == (passes > 1)).all()) for view in shown)
    assert torch.equal(targets["logits"], torch.full((2, 2), (passes + 1) / 2))


def test_a_step_that_overflows_leaves_the_teacher_as_it_was(
    model: nets.Net, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = trimtab.adapt(model, "tent + mean_teacher")

    def overflow(params: list[Tensor], *_: object, **__: object) -> None:
        for param in params:
            param.fill_(torch.inf)

    monkeypatch.setattr(optimizer, "adam", overflow)
    adapter(images[:16])
    assert adapter.counters.skipped_updates == 1
    teacher = adapter.memory["mean_teacher"]
    assert all(torch.equal(teacher[name], value) for name, value in adapter.source.items())


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="returns must be 'teacher' or 'sum', got 'student'"):
        MeanTeacher(returns="student")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"momentum must lie in \[0, 1\], got 2"):
        MeanTeacher(momentum=2)
    with pytest.raises(ValueError, match="views_of_teacher must be 0 or more, got -1"):
        MeanTeacher(views_of_teacher=-1)
