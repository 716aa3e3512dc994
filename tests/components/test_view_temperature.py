"""A temperature from how often views agree."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import trimtab
from components.steps import first_memory, step
from reference import nets
from trimtab.augment import mirrored
from trimtab.components.view_temperature import ViewTemperature
from trimtab.core.backbone import Tensors
from trimtab.core.prediction import Prediction

CLASSES = 6


def memory(rule: ViewTemperature) -> Tensors:
    return first_memory(rule, CLASSES)


def rule_on_logits(**settings: int) -> ViewTemperature:
    """Whose inputs are logits of the original, the strong view and the mild one, side by side."""
    return ViewTemperature(
        augment=lambda inputs: inputs[:, CLASSES : 2 * CLASSES],
        mild=lambda inputs: inputs[:, 2 * CLASSES :],
        **settings,
    )


def correct(
    rule: ViewTemperature, own: Tensor, strong: Tensor, mild: Tensor, kept: Tensors
) -> Tensor:
    seen = replace(
        step(own),
        inputs=torch.cat([own, strong, mild], 1),
        forward=lambda inputs, params=None: Prediction(inputs, None),  # type: ignore[arg-type]
    )
    return rule.correct(own, seen, kept)


def temperature(kept: Tensors) -> float:
    return float(kept["log_temperature"].exp())


def views(sharpness: float, count: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Originals whose mild view says a class that their honest probabilities draw.

    Sharpened, they are surer than they should be. The strong view says what the original does.
    """
    generator = torch.Generator().manual_seed(seed)
    honest = 2 * torch.randn(count, CLASSES, generator=generator)
    drawn = torch.multinomial(honest.softmax(1), 1, generator=generator)[:, 0]
    # chance among the classes is taken off again, so it is put on top
    lucky = torch.rand(count, generator=generator) < 1 / CLASSES
    said = torch.where(lucky, honest.argmax(1), drawn)
    own = sharpness * honest
    return own, own, torch.eye(CLASSES)[said]


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_it_finds_the_temperature_that_makes_confidence_honest(sharpness: float) -> None:
    rule = rule_on_logits(memory=4096)
    kept = memory(rule)
    correct(rule, *views(sharpness, 4096), kept)
    assert float(kept["log_temperature"]) == pytest.approx(math.log(sharpness), abs=0.08)


def test_confidence_is_what_the_views_say_of_the_first_batch() -> None:
    rule = rule_on_logits()
    generator = torch.Generator().manual_seed(1)
    own, strong, mild = (3 * torch.randn(16, CLASSES, generator=generator) for _ in range(3))
    strong[:12], mild[:14] = 0.8 * own[:12], own[:14]
    kept = memory(rule)
    correct(rule, own, strong, mild, kept)
    sure = [float(logits.softmax(1).amax(1).mean()) for logits in (own, strong)]
    agreement = [float((view.argmax(1) == own.argmax(1)).float().mean()) for view in (strong, mild)]
    both = math.sqrt(min(agreement[0] * sure[0] / sure[1], 1.0)) * agreement[1]
    right = (both - 1 / CLASSES) / (1 - 1 / CLASSES)
    whole = math.exp(float(kept["log_temperature"]) * (16 + 4) / 16)  # a fifth of it is doubted
    found = float((own / whole).softmax(1).amax(1).mean())
    assert found == pytest.approx((16 * right + 1) / 18, abs=1e-4)


def test_logits_are_divided_and_keep_their_classes() -> None:
    rule = rule_on_logits()
    kept = memory(rule)
    own, strong, mild = views(3.0, 64)
    found = correct(rule, own, strong, mild, kept)
    assert temperature(kept) > 1.5
    torch.testing.assert_close(found, own / temperature(kept))


@pytest.mark.parametrize(("batch", "first", "later"), [(64, 64, 8), (4, 4, 1), (1, 1, 1)])
def test_one_sample_in_so_many_is_looked_at(batch: int, first: int, later: int) -> None:
    rule, sizes = rule_on_logits(every=16, memory=4096), []
    kept = memory(rule)

    def forward(inputs: Tensor, params: Tensors | None = None) -> Prediction:
        sizes.append(len(inputs))
        return Prediction(inputs, None)

    batches = 16 * 5
    for _ in range(batches):
        own, strong, mild = views(1.0, batch)
        seen = replace(step(own), inputs=torch.cat([own, strong, mild], 1), forward=forward)  # type: ignore[arg-type]
        rule.correct(own, seen, kept)
    assert sizes[:4] == [first, first, later, later]
    looked_at = sum(sizes[2:]) / 2 + later  # of the first batch as much as of any
    assert looked_at / (batch * batches) == pytest.approx(1 / 16, rel=0.05)


def test_whole_batches_are_looked_at_where_there_are_batch_norms() -> None:
    # views of a few samples have statistics of their own, and agree too rarely with the batch
    model = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.BatchNorm1d(48), torch.nn.Linear(48, 6)
    )
    adapter = trimtab.adapt(model, "bn1 + view_temperature")
    passed = []
    for _ in range(33):
        before = adapter.counters.forward_samples
        adapter(torch.rand(16, 3, 4, 4))
        passed.append(adapter.counters.forward_samples - before)
    assert [n for n, count in enumerate(passed) if count > 16] == [0, 16, 32]
    assert max(passed) == 3 * 16


def test_half_as_many_are_looked_at_once_enough_are_known() -> None:
    rule = rule_on_logits(every=16, memory=16)
    kept = memory(rule)
    own = views(1.0, 64)[0]
    waits = []
    for _ in range(9):  # 8 samples a look, one in 16: every second batch, then every fourth
        correct(rule, own, own, own, kept)
        waits.append(float(kept["due_in"]))
    assert waits == [64, 0, 64, 0, 192, 128, 64, 0, 192]


def test_the_first_batch_counts_as_much_as_any_later_look() -> None:
    rule = rule_on_logits(every=1)
    kept = memory(rule)
    own = views(1.0, 64)[0]
    correct(rule, own, own, own, kept)
    assert float(kept["seen"]) == 8
    correct(rule, own + 1, own, own, kept)
    assert float(kept["seen"]) == 16
    torch.testing.assert_close(kept["logits"][:16], torch.cat([own[::8] + 1, own[::8]]))


def test_only_the_latest_samples_are_remembered() -> None:
    rule = rule_on_logits(memory=24, every=1)
    kept = memory(rule)
    for number in range(5):
        own = views(1.0, 64, number)[0]
        correct(rule, own, own, own, kept)
    assert float(kept["seen"]) == 24
    torch.testing.assert_close(kept["logits"][:8], own[::8])


@pytest.mark.parametrize(("sharpness", "shift", "limit"), [(200.0, 1, 16), (1e-3, 0, 0.5)])
def test_it_stays_within_bounds(sharpness: float, shift: int, limit: float) -> None:
    rule = rule_on_logits(every=1)
    kept, classes = memory(rule), torch.eye(CLASSES)
    for _ in range(200):
        view = classes.roll(shift, 0)
        assert correct(rule, sharpness * classes, view, view, kept).isfinite().all()
    assert temperature(kept) == pytest.approx(limit, rel=0.15)


def test_a_view_that_is_not_finite_changes_nothing() -> None:
    rule = rule_on_logits(every=1)
    kept = memory(rule)
    own, strong, mild = views(3.0, 32)
    correct(rule, own, strong, mild, kept)
    before = {name: value.clone() for name, value in kept.items() if name != "due_in"}
    found = correct(rule, own, torch.full_like(strong, torch.nan), mild, kept)
    assert found.isfinite().all()
    assert all(torch.equal(value, kept[name]) for name, value in before.items())


def test_any_method_can_have_it(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "source + view_temperature")
    for batch in images.split(16):
        logits = adapter(batch)
        assert torch.equal(logits.argmax(1), trimtab.adapt(model, "source")(batch).argmax(1))
    assert float(adapter.memory["view_temperature"]["log_temperature"]) != 0


def test_mirrored_images_have_left_and_right_exchanged(images: Tensor) -> None:
    assert torch.equal(mirrored(images)[..., 0], images[..., -1])
    with pytest.raises(ValueError, match=r"to be mirrored, got \(3, 4\)"):
        mirrored(torch.zeros(3, 4))


@pytest.mark.parametrize("name", ["every", "memory"])
def test_settings_are_checked(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
        ViewTemperature(**{name: 0})  # type: ignore[arg-type]
