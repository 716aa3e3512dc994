"""Scores against slow and obvious versions."""

import itertools

import pytest
import torch
from torch import Tensor

from trimtab.bench.scoring import Scorer, total_variation


def scored(logits: Tensor, labels: Tensor, domain: Tensor, source: Tensor, size: int) -> Scorer:
    scorer = Scorer(logits.shape[1], ["fog", "snow"])
    for rows in torch.arange(len(labels)).split(size):
        scorer.update(logits[rows], labels[rows], domain[rows], source[rows])
    return scorer


GENERATOR = torch.Generator().manual_seed(0)
LOGITS = torch.randn(200, 4, generator=GENERATOR) * 3
LABELS = torch.randint(4, (200,), generator=GENERATOR)
DOMAIN = torch.tensor([1] * 150 + [0] * 50)
SOURCE = torch.randn(200, 4, generator=GENERATOR)


def test_errors_are_counted_by_sample_and_by_domain() -> None:
    scores = scored(LOGITS, LABELS, DOMAIN, SOURCE, 7).scores(0.0)
    wrong = [int(row.argmax()) != int(label) for row, label in zip(LOGITS, LABELS, strict=True)]
    snow, fog = sum(wrong[:150]) / 150, sum(wrong[150:]) / 50
    assert scores.error == pytest.approx(sum(wrong) / 200)
    assert scores.errors == {"snow": pytest.approx(snow), "fog": pytest.approx(fog)}
    assert list(scores.errors) == ["snow", "fog"]
    assert scores.domain_error == pytest.approx((snow + fog) / 2)


def test_calibration_compares_confidence_with_what_was_right() -> None:
    scores = scored(LOGITS, LABELS, DOMAIN, SOURCE, 200).scores(0.0)
    probs = LOGITS.double().softmax(1)
    total = 0.0
    for low in range(15):
        inside = [i for i in range(200) if min(14, int(float(probs[i].max()) * 15)) == low]
        if inside:
            sure = sum(float(probs[i].max()) for i in inside) / len(inside)
            hit = sum(int(probs[i].argmax()) == int(LABELS[i]) for i in inside) / len(inside)
            total += len(inside) / 200 * abs(sure - hit)
    assert scores.ece == pytest.approx(total)
    nll = -sum(float(probs[i, LABELS[i]].log()) for i in range(200)) / 200
    assert scores.nll == pytest.approx(nll)


def test_flips_are_counted_against_the_source_model() -> None:
    scores = scored(LOGITS, LABELS, DOMAIN, SOURCE, 50).scores(0.0)
    own, source = LOGITS.argmax(1) == LABELS, SOURCE.argmax(1) == LABELS
    assert scores.negative_flips == pytest.approx(float((source & ~own).double().mean()))
    assert scores.error - scores.source_error == pytest.approx(
        scores.negative_flips - scores.positive_flips
    )


def test_curves_cover_the_stream_once() -> None:
    scores = scored(LOGITS, LABELS, DOMAIN, SOURCE, 13).scores(0.0)
    stops = [0, *(point[0] for point in scores.curve)]
    assert stops[-1] == 200
    sizes = [b - a for a, b in itertools.pairwise(stops)]
    assert sum(n * point[1] for n, point in zip(sizes, scores.curve, strict=True)) == pytest.approx(
        200 * scores.error
    )


def test_predicted_classes_are_counted_along_the_stream() -> None:
    scores = scored(LOGITS, LABELS, DOMAIN, SOURCE, 13).scores(0.0)
    stops = [0, *(point[0] for point in scores.curve)]
    guesses = LOGITS.argmax(1).tolist()
    expected = [[guesses[a:b].count(c) for c in range(4)] for a, b in itertools.pairwise(stops)]
    assert scores.predicted_along == expected


def test_neighbours_of_many_classes_are_counted_together() -> None:
    logits = torch.eye(250)[[0, 1, 2, 3, 249, 248]]
    scorer = Scorer(250, ["fog"])
    scorer.update(logits, torch.zeros(6).long(), torch.zeros(6).long(), logits)
    along = scorer.scores(0.0).predicted_along
    assert {len(counts) for counts in along} == {84}
    assert [counts.index(1) for counts in along] == [0, 0, 0, 1, 83, 82]


def test_batches_make_no_difference() -> None:
    assert scored(LOGITS, LABELS, DOMAIN, SOURCE, 1).scores(0) == scored(
        LOGITS, LABELS, DOMAIN, SOURCE, 64
    ).scores(0)


def test_one_class_for_everything_is_a_collapse() -> None:
    stuck = torch.zeros(200, 4)
    stuck[:, 2] = 5
    assert scored(stuck, LABELS, DOMAIN, SOURCE, 50).scores(0).collapsed
    right = torch.nn.functional.one_hot(LABELS, 4).float()
    assert not scored(right, LABELS, DOMAIN, SOURCE, 50).scores(0).collapsed


def test_total_variation_is_half_the_absolute_difference() -> None:
    assert total_variation(torch.tensor([1.0, 1]), torch.tensor([3.0, 1])) == pytest.approx(0.25)
