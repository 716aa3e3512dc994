"""Samples with similar features agree."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.laplacian import Laplacian
from trimtab.core.component import Step
from trimtab.core.prediction import Prediction


def step_with(logits: Tensor, features: Tensor) -> Step:
    prediction = Prediction(logits, features)
    return replace(step(logits), prediction=prediction, recent=prediction)


def drawn(samples: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Logits of five classes and features of three numbers."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(samples, 5, generator=generator, dtype=torch.float64)
    return logits, torch.randn(samples, 3, generator=generator, dtype=torch.float64)


def affinity_by_hand(features: Tensor, kind: str, neighbors: int) -> list[list[float]]:
    rows = [[v / math.hypot(*row) for v in row] for row in features.tolist()]
    count = len(rows)
    far = [[math.dist(a, b) for b in rows] for a in rows]
    if kind == "linear":
        return [[sum(x * y for x, y in zip(a, b, strict=True)) for b in rows] for a in rows]
    if kind == "rbf":
        width = sum(sorted(line)[min(neighbors, count) - 1] for line in far) / count
        return [[math.exp(-(d**2) / (2 * width**2)) for d in line] for line in far]
    others = [sorted((d, j) for j, d in enumerate(line) if j != i) for i, line in enumerate(far)]
    nearest = [{j for _, j in line[:neighbors]} for line in others]
    return [[float(j in near) for j in range(count)] for near in nearest]


def smoothed_by_hand(logits: Tensor, affinity: list[list[float]]) -> Tensor:
    """A thousand rounds of y = softmax(log p + K y), one number at a time."""
    log_own = [[math.log(p + 1e-10) for p in row] for row in logits.softmax(1).tolist()]
    y = logits.softmax(1).tolist()
    samples, classes = range(len(y)), range(len(y[0]))
    for _ in range(1000):
        exponents = [
            [log_own[i][c] + sum(affinity[i][j] * y[j][c] for j in samples) for c in classes]
            for i in samples
        ]
        y = [[math.exp(e) / sum(map(math.exp, row)) for e in row] for row in exponents]
    return torch.tensor(y, dtype=torch.float64)


@pytest.mark.parametrize("kind", ["rbf", "knn", "linear"])
@pytest.mark.parametrize("samples", [2, 4, 9])
def test_it_finds_what_a_thousand_plain_rounds_find(kind: str, samples: int) -> None:
    logits, features = drawn(samples)
    corrected = Laplacian(affinity=kind, neighbors=3).correct(  # type: ignore[arg-type]
        logits, step_with(logits, features), {}
    )
    expected = smoothed_by_hand(logits, affinity_by_hand(features, kind, 3))
    torch.testing.assert_close(corrected.exp(), expected, atol=1e-4, rtol=0)


def test_rows_sum_to_one() -> None:
    logits, features = drawn(30)
    corrected = Laplacian().correct(logits, step_with(logits, features), {})
    torch.testing.assert_close(corrected.exp().sum(1), torch.ones(30, dtype=torch.float64))


@pytest.mark.parametrize("kind", ["rbf", "knn", "linear"])
def test_a_sample_alone_keeps_its_prediction(kind: str) -> None:
    logits, features = drawn(1)
    rule = Laplacian(affinity=kind)  # type: ignore[arg-type]
    assert torch.equal(rule.correct(logits, step_with(logits, features), {}), logits)


def test_a_symmetric_affinity_averages_both_directions() -> None:
    logits, features = drawn(7)
    rule = Laplacian(affinity="knn", neighbors=2, symmetric=True)
    one_way = torch.tensor(affinity_by_hand(features, "knn", 2))
    assert not torch.equal(one_way, one_way.T)
    expected = smoothed_by_hand(logits, ((one_way + one_way.T) / 2).tolist())
    corrected = rule.correct(logits, step_with(logits, features), {})
    torch.testing.assert_close(corrected.exp(), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["rbf", "knn", "linear"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_features_leave_everything_finite(kind: str, value: float) -> None:
    logits, _ = drawn(6)
    features = torch.full((6, 3), value, dtype=torch.float64)
    rule = Laplacian(affinity=kind)  # type: ignore[arg-type]
    assert rule.correct(1e4 * logits, step_with(1e4 * logits, features), {}).isfinite().all()


def test_a_window_of_single_samples_agrees_as_a_batch_does(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    singly, whole = trimtab.adapt(model, "lame", window=8), trimtab.adapt(model, "lame")
    predictions = [singly(image) for image in images[:12].split(1)]
    torch.testing.assert_close(predictions[0], trimtab.adapt(model, "source")(images[:1]))
    torch.testing.assert_close(predictions[7], whole(images[:8])[-1:])
    torch.testing.assert_close(predictions[11], whole(images[4:12])[-1:])


def test_a_model_without_features_is_refused() -> None:
    logits, _ = drawn(3)
    with pytest.raises(ValueError, match="name the module that classifies them"):
        Laplacian().correct(logits, step(logits), {})


def test_an_unknown_affinity_is_refused() -> None:
    with pytest.raises(ValueError, match="affinity must be 'rbf', 'knn' or 'linear', got 'cos'"):
        Laplacian(affinity="cos")  # type: ignore[arg-type]
