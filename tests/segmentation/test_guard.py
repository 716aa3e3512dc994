"""The guard on segmentation models: an image is one observation, its pixels are averaged over."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor, nn

import trimtab
from trimtab import Guard
from trimtab.components.prior_correction import PriorCorrection
from trimtab.core.adapter import Adapter
from trimtab.core.component import OutputRule, Step
from trimtab.core.guard.look import COLUMNS, Look
from trimtab.core.guard.pixel_rows import one_of_each, rows_of
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE

CLASSES = 5


class Painted(nn.Module):
    """Reads the class that is painted at each pixel."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(1, CLASSES)
        self.scale = nn.Conv2d(CLASSES, CLASSES, 1, bias=False)
        with torch.no_grad():
            self.scale.weight.copy_(4 * torch.eye(CLASSES)[..., None, None])

    def forward(self, x: Tensor) -> Tensor:
        return self.scale(self.norm(x))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Spoils(OutputRule):
    """Says one class of every pixel while ``switch`` is on."""

    dense = True
    switch: ClassVar[list[bool]] = [False]

    def correct(self, logits: Tensor, step: Step, memory: dict[str, Tensor]) -> Tensor:
        one_class = torch.zeros_like(logits)
        one_class[:, 0] = 1
        return one_class if self.switch[0] else logits


def images(count: int, seed: int) -> Tensor:
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count, 3, 3), generator=random)
    labels = labels.repeat_interleave(4, 1).repeat_interleave(4, 2)
    painted = nn.functional.one_hot(labels, CLASSES).movedim(-1, 1).float()
    return painted + 0.3 * torch.rand(painted.shape, generator=random)


@pytest.fixture
def stream() -> Adapter:
    Spoils.switch = [False]
    method = Method((Spoils(),), norm=SOURCE)
    return trimtab.adapt(Painted(), method, guard=True, task="segmentation")


def feed(adapter: Adapter, batches: int, seed: int = 0) -> None:
    for number in range(batches):
        adapter(images(32, 100 * seed + number))


def test_what_does_no_harm_is_left_alone(stream: Adapter) -> None:
    feed(stream, 20)
    health = stream.health
    assert health.looked_at > 0
    assert health.alarms == 0
    assert health.agreement == 1.0


def test_a_collapse_is_answered_by_the_source_and_there_is_a_way_back(stream: Adapter) -> None:
    feed(stream, 6)
    Spoils.switch = [True]
    feed(stream, 10, seed=1)
    assert stream.health.alarms == 1
    assert stream.health.predicting == "source"
    batch = images(32, 7)
    expected = stream.backbone(batch).logits
    torch.testing.assert_close(stream(batch), expected)
    Spoils.switch = [False]
    feed(stream, 60, seed=2)
    assert stream.health.predicting == "adapted"


def test_views_are_mirrored_back_before_they_are_compared(stream: Adapter) -> None:
    Spoils.switch = [True]  # so that views are taken
    stream(images(32, 3))
    assert stream.health.source_accuracy == pytest.approx(1.0)  # the source says the same of each


def test_a_nervous_guard_on_learning_pixels_saves_and_goes_on() -> None:
    from segmentation import nets

    nervous = Guard(false_alarms=0.8, allowed_harm=0.0, cost=1.0)
    first, again = (
        trimtab.adapt(nets.net(), "roid", task="segmentation", guard=nervous) for _ in range(2)
    )
    batches = nets.images(60).split(6)
    for batch in batches[:5]:
        first(batch)
    again.load_state_dict(first.state_dict())
    for batch in batches[5:]:
        assert torch.equal(first.predict(batch), again(batch))
        first(batch)
    assert first.health == again.health


def test_a_look_remembers_an_image_as_the_mean_over_its_pixels() -> None:
    random = torch.Generator().manual_seed(0)
    parts = [torch.randn(4, 3, 5, 7, generator=random) for _ in range(4)]
    earlier = torch.zeros(0, len(COLUMNS))
    found = Look(*parts).rows(earlier, first=3)  # type: ignore[arg-type]
    each = Look(*(rows_of(part) for part in parts)).rows(earlier)  # type: ignore[arg-type]
    slow = torch.stack([each[35 * number : 35 * (number + 1)].mean(0) for number in range(4)])
    own = [COLUMNS.index("class"), COLUMNS.index("source_class")]
    means = [place for place in range(len(COLUMNS)) if place not in own]
    torch.testing.assert_close(found[:, means], slow[:, means])
    said = one_of_each(parts[0], 3).argmax(1).float()
    assert torch.equal(found[:, own[0]], said)


def test_the_pixel_that_speaks_for_an_image_is_elsewhere_in_each() -> None:
    places = torch.arange(48.0).view(1, 1, 6, 8).repeat(40, 2, 1, 1)
    chosen = one_of_each(places)[:, 0]
    assert len(set(chosen.tolist())) >= 30
    assert float(chosen.min()) >= 0
    assert abs(float(chosen.mean()) - 23.5) < 3
    assert torch.equal(one_of_each(places[:1], 7), one_of_each(places)[7:8])


def test_rules_for_pixels_have_their_say_as_ever() -> None:
    """Pixels of one image are no run, so a rule that assumes runs is not asked for any."""
    method = trimtab.build("tent").plus(PriorCorrection(pixels=True))
    answers = [
        trimtab.adapt(Painted(), method, guard=guard, task="segmentation")(images(8, 0))
        for guard in (True, False)
    ]
    assert torch.equal(*answers)
