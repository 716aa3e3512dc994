"""CoTTA's order of things."""

import torch
from torch import Tensor

import trimtab
from core.attempts import attempt_of
from reference import nets


def flip(images: Tensor) -> Tensor:
    return images.flip(-1)


def test_a_full_restore_brings_the_student_back_after_the_teacher_took_its_average(
    model: nets.Net, images: Tensor
) -> None:
    free, restored = (
        trimtab.adapt(model, "cotta", restore=p, augment=flip, momentum=0.5) for p in (0.0, 1.0)
    )
    free(images[:16])
    restored(images[:16])
    for name, source in restored.source.items():
        assert torch.equal(restored.params[name], source)
        teacher = restored.memory["mean_teacher"][name]
        expected = (source + free.params[name].detach()) / 2
        torch.testing.assert_close(teacher, expected, rtol=0, atol=1e-7)
    assert any(
        not torch.equal(restored.memory["mean_teacher"][name], source)
        for name, source in restored.source.items()
    )


def test_outputs_are_the_teachers_logits_averaged_over_views(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "cotta", augment=flip, min_confidence=1.1)
    adapter(images[:16])
    teacher = {name: value.clone() for name, value in adapter.memory["mean_teacher"].items()}
    with torch.no_grad():
        attempt = attempt_of(adapter)
        expected = attempt.learner.further_pass(attempt, flip(images[16:32]), teacher).logits
    torch.testing.assert_close(adapter(images[16:32]), expected, rtol=0, atol=1e-4)


def test_a_batch_the_source_is_sure_of_costs_three_passes(model: nets.Net, images: Tensor) -> None:
    sure = trimtab.adapt(model, "cotta", min_confidence=0.0)
    sure(images[:16])
    assert sure.counters.forward_samples == 3 * 16
    unsure = trimtab.adapt(model, "cotta", min_confidence=1.1, views=5)
    unsure(images[:16])
    assert unsure.counters.forward_samples == 7 * 16
    assert unsure.counters.backward_samples == 16


def test_all_weights_and_biases_are_trained(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "cotta", restore=0.0, views=2)
    adapter(images[:16])
    assert adapter.params.keys() == dict(model.named_parameters()).keys()
    moved = [n for n, s in adapter.source.items() if not torch.equal(adapter.params[n], s)]
    assert moved == list(adapter.source)


def test_tensors_with_other_names_stay() -> None:
    attention = torch.nn.MultiheadAttention(8, 2)
    names = trimtab.Backbone(attention).parameters(trimtab.build("cotta").trains)
    assert set(names) == {"out_proj.weight", "out_proj.bias"}


def test_a_window_learns_once_it_is_full_and_returns_the_teachers_logits(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "cotta", views=2, window=8)
    for image in images[:24].split(1):
        assert adapter(image).isfinite().all()
    assert adapter.counters.updates == 3
