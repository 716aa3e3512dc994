"""Scores of segmented images against slow and obvious versions that loop over the pixels."""

import math

import pytest
import torch
from torch import Tensor

from trimtab.bench.pixel_scoring import PixelScorer, mean_iou
from trimtab.bench.scoring import Scorer
from trimtab.streams.data import IGNORED

GENERATOR = torch.Generator().manual_seed(0)
IMAGES, CLASSES, HEIGHT, WIDTH = 12, 4, 5, 6
LOGITS = 3 * torch.randn(IMAGES, CLASSES, HEIGHT, WIDTH, generator=GENERATOR)
SOURCE = torch.randn(IMAGES, CLASSES, HEIGHT, WIDTH, generator=GENERATOR)
LABELS = torch.randint(CLASSES, (IMAGES, HEIGHT, WIDTH), generator=GENERATOR)
LABELS[3, 2:] = IGNORED
DOMAIN = torch.tensor([1] * 8 + [0] * 4)


def scorer(size: int = 5) -> PixelScorer:
    made = PixelScorer(CLASSES, ["fog", "snow"])
    for rows in torch.arange(IMAGES).split(size):
        made.update(LOGITS[rows], LABELS[rows], DOMAIN[rows], SOURCE[rows])
    return made


def pixels(domain: int | None = None) -> list[tuple[Tensor, Tensor, int]]:
    return [
        (LOGITS[i, :, row, column], SOURCE[i, :, row, column], int(LABELS[i, row, column]))
        for i in range(IMAGES)
        for row in range(HEIGHT)
        for column in range(WIDTH)
        if int(LABELS[i, row, column]) != IGNORED and domain in (None, int(DOMAIN[i]))
    ]


def iou(domain: int | None) -> float:
    ratios = []
    for kind in range(CLASSES):
        both = either = 0
        for logits, _, label in pixels(domain):
            said = int(logits.argmax()) == kind
            both += said and label == kind
            either += said or label == kind
        ratios += [both / either] if either else []
    return sum(ratios) / len(ratios)


def test_the_mean_iou_is_that_of_all_pixels_and_of_each_domain() -> None:
    scores = scorer().scores(0.0)
    assert scores.miou == pytest.approx(iou(None))
    assert scores.mious == {"snow": pytest.approx(iou(1)), "fog": pytest.approx(iou(0))}


def test_a_class_that_is_nowhere_counts_for_nothing() -> None:
    confusion = torch.tensor([[6, 2, 0], [0, 2, 0], [0, 0, 0]])
    assert mean_iou(confusion) == pytest.approx((6 / 8 + 2 / 4) / 2)
    assert mean_iou(torch.zeros(3, 3, dtype=torch.long)) == 0.0


def test_all_else_is_what_the_scorer_of_samples_says_of_labelled_pixels() -> None:
    """Pixels as so many samples: errors, calibration, flips and classes."""
    kept = LABELS != IGNORED
    rows = [part.movedim(1, -1)[kept] for part in (LOGITS, SOURCE)]
    domain = DOMAIN[:, None, None].expand_as(LABELS)[kept]
    plain = Scorer(CLASSES, ["fog", "snow"])
    plain.update(rows[0], LABELS[kept], domain, rows[1])
    found, expected = scorer().scores(0.5), plain.scores(0.5)
    assert found.samples == IMAGES
    for name in ("error", "domain_error", "tvd", "ece", "nll", "source_error"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name)), name
    for name in ("negative_flips", "positive_flips", "parameter_distance"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name)), name
    assert found.errors == {name: pytest.approx(e) for name, e in expected.errors.items()}
    assert (found.predicted, found.labels) == (expected.predicted, expected.labels)
    assert [b.samples for b in found.reliability] == [b.samples for b in expected.reliability]


def test_nll_is_the_textbook_sum() -> None:
    found = scorer().scores(0.0).nll
    slow = [-math.log(float(logits.double().softmax(0)[label])) for logits, _, label in pixels()]
    assert found == pytest.approx(sum(slow) / len(slow))


def test_batches_do_not_matter_and_curves_run_over_images() -> None:
    whole, parts = scorer(IMAGES).scores(0.0), scorer(1).scores(0.0)
    assert whole.curve == parts.curve
    assert whole.curve[-1].last_sample == IMAGES
    assert len(whole.predicted_along) == len(whole.curve)
    assert [tuple(start) for start in whole.domain_starts] == [(0, "snow"), (8, "fog")]


def test_smaller_logits_are_enlarged_to_the_labels() -> None:
    made = PixelScorer(CLASSES, ["fog"])
    small = torch.zeros(1, CLASSES, 2, 2)
    small[:, 1] = 5
    made.update(small, torch.ones(1, 6, 6, dtype=torch.long), torch.zeros(1).long(), small)
    assert made.scores(0.0).error == 0.0


def test_a_model_that_says_one_class_everywhere_has_collapsed() -> None:
    made = PixelScorer(CLASSES, ["fog"])
    one = torch.zeros(8, CLASSES, 4, 4)
    one[:, 2] = 1
    labels = torch.arange(8 * 16).view(8, 4, 4) % CLASSES
    made.update(one, labels, torch.zeros(8).long(), one)
    assert made.scores(0.0).collapsed
