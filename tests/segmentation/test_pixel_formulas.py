"""Losses, weights and corrections of pixels against slow versions that loop over the pixels."""

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from components.steps import first_memory, step
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.entropy import Entropy
from trimtab.components.novel_samples import NovelSamples
from trimtab.components.opinion_entropy import OpinionEntropy
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.reliable_samples import ReliableSamples
from trimtab.components.robust_pseudo_label import RobustPseudoLabel
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.core.component import Objective, Step, Weighting
from trimtab.core.prediction import Prediction
from trimtab.core.task import Segmentation

CLASSES = 4
LOGITS = 3 * torch.randn(3, CLASSES, 5, 6, generator=torch.Generator().manual_seed(2)).double()
DENSE = Segmentation()


def pixels(tensor: Tensor) -> Iterator[tuple[int, int, int]]:
    for image in range(len(tensor)):
        for row in range(tensor.shape[-2]):
            for column in range(tensor.shape[-1]):
                yield image, row, column


def softmax(scores: list[float]) -> list[float]:
    largest = max(scores)
    odds = [math.exp(score - largest) for score in scores]
    return [odd / sum(odds) for odd in odds]


def probabilities(logits: Tensor) -> dict[tuple[int, int, int], list[float]]:
    return {
        place: softmax([float(logits[place[0], c, place[1], place[2]]) for c in range(CLASSES)])
        for place in pixels(logits)
    }


PROBS = probabilities(LOGITS)


def entropy(probs: list[float]) -> float:
    return -sum(p * math.log(p) for p in probs)


def cosine(first: list[float], second: list[float]) -> float:
    product = sum(a * b for a, b in zip(first, second, strict=True))
    return product / math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))


def mean_probs(places: list[tuple[int, int, int]]) -> list[float]:
    return [sum(PROBS[place][c] for place in places) / len(places) for c in range(CLASSES)]


def as_image(values: dict[tuple[int, int, int], float]) -> Tensor:
    image = torch.zeros(len(LOGITS), *LOGITS.shape[2:], dtype=torch.float64)
    for place, value in values.items():
        image[place] = value
    return image


@pytest.mark.parametrize(
    "objective",
    [Entropy(), SoftLikelihoodRatio(), RobustPseudoLabel(), OpinionEntropy()],
    ids=lambda c: c.name,
)
def test_a_loss_of_pixels_is_that_of_each_pixel_alone(objective: Objective) -> None:
    found = objective.loss(step(LOGITS), {})
    alone = {
        place: float(objective.loss(step(LOGITS[place[0], :, place[1], place[2]][None]), {}))
        for place in pixels(LOGITS)
    }
    torch.testing.assert_close(found, as_image(alone), rtol=0, atol=1e-12)


def test_entropy_of_pixels_is_the_textbook_sum() -> None:
    slow = as_image({place: entropy(PROBS[place]) for place in PROBS})
    torch.testing.assert_close(Entropy().loss(step(LOGITS), {}), slow, rtol=0, atol=1e-12)


def test_the_soft_likelihood_ratio_of_pixels_is_the_papers_sum() -> None:
    def ratio(probs: list[float]) -> float:
        capped = [min(p, 0.99) for p in probs]
        return -sum(p * math.log(p / (1 - p) + 1e-5) for p in capped)

    slow = as_image({place: ratio(PROBS[place]) for place in PROBS})
    found = SoftLikelihoodRatio().loss(step(LOGITS), {})
    torch.testing.assert_close(found, slow, rtol=0, atol=1e-12)


def test_consistency_compares_a_pixel_with_the_same_pixel_of_the_view() -> None:
    view = LOGITS.flip(0) + 0.5
    view_probs = probabilities(view)
    component = AugmentationConsistency().for_dense()
    shown = torch.zeros(3, 1)
    made = Step(
        **{**vars(step(LOGITS)), "task": DENSE},
    )
    made.views[component.name] = shown
    made.passed[id(shown)] = Prediction(view, None)

    def cross(first: list[float], second: list[float]) -> float:
        return -sum(p * math.log(q) for p, q in zip(first, second, strict=True))

    slow = {
        p: 0.5 * (cross(PROBS[p], view_probs[p]) + cross(view_probs[p], PROBS[p])) for p in PROBS
    }
    torch.testing.assert_close(component.loss(made, {}), as_image(slow), rtol=0, atol=1e-12)


def test_certainty_and_diversity_are_those_of_pixels_among_all_pixels() -> None:
    rule, memory = CertaintyDiversity(), {}
    memory = {name: t.double() for name, t in first_memory(rule, CLASSES).items()}
    found = rule.weights(step(LOGITS), memory)
    uniform = [1 / CLASSES] * CLASSES
    diversity = scaled({place: 1 - cosine(uniform, PROBS[place]) for place in PROBS})
    certainty = scaled({place: -entropy(PROBS[place]) for place in PROBS})
    least = sum(diversity.values()) / len(diversity)
    slow = {
        place: math.exp(3 * diversity[place] * certainty[place]) * (diversity[place] >= least)
        for place in PROBS
    }
    torch.testing.assert_close(found, as_image(slow), rtol=0, atol=1e-9)
    moved = [0.9 / CLASSES + 0.1 * mean for mean in mean_probs(list(PROBS))]
    torch.testing.assert_close(memory["mean_probs"], torch.tensor(moved).double())


def scaled(scores: dict[tuple[int, int, int], float]) -> dict[tuple[int, int, int], float]:
    low, high = min(scores.values()), max(scores.values())
    return {place: (score - low) / (high - low) for place, score in scores.items()}


def test_reliable_pixels_are_averaged_over() -> None:
    found = ReliableSamples(0.4).weights(step(LOGITS), {})
    kept = [place for place in PROBS if entropy(PROBS[place]) < 0.4 * math.log(CLASSES)]
    assert 0 < len(kept) < len(PROBS)
    slow = as_image({place: len(PROBS) / len(kept) for place in kept})
    torch.testing.assert_close(found, slow, rtol=0, atol=1e-12)


def test_novel_pixels_are_certain_and_unlike_those_learned_from_before() -> None:
    rule, before = NovelSamples(max_similarity=0.6), [0.7, 0.1, 0.1, 0.1]
    memory = {"mean_probs": torch.tensor(before).double()}
    found = rule.weights(step(LOGITS), memory)
    limit = 0.4 * math.log(CLASSES)
    kept = [p for p in PROBS if entropy(PROBS[p]) < limit and cosine(before, PROBS[p]) < 0.6]
    assert 0 < len(kept) < len(PROBS)
    slow = {p: math.exp(limit - entropy(PROBS[p])) * len(PROBS) / len(kept) for p in kept}
    torch.testing.assert_close(found, as_image(slow), rtol=0, atol=1e-9)
    means = mean_probs(kept)
    moved = [0.9 * old + 0.1 * new for old, new in zip(before, means, strict=True)]
    torch.testing.assert_close(memory["mean_probs"], torch.tensor(moved).double())


@pytest.mark.parametrize("form", ["logits", "posterior"])
def test_the_prior_is_that_of_all_pixels(form: str) -> None:
    found = PriorCorrection(form).correct(LOGITS, step(LOGITS), {})  # type: ignore[arg-type]
    prior = mean_probs(list(PROBS))
    smoothing = (1 / CLASSES) / max(prior)
    prior = [(p + smoothing) / (1 + smoothing * CLASSES) for p in prior]
    slow = torch.zeros_like(LOGITS)
    for image, row, column in PROBS:
        probs = PROBS[image, row, column]
        joint = [p * q for p, q in zip(probs, prior, strict=True)]
        for c in range(CLASSES):
            plain = float(LOGITS[image, c, row, column]) * prior[c]
            slow[image, c, row, column] = (
                plain if form == "logits" else math.log(joint[c] / sum(joint))
            )
    torch.testing.assert_close(found, slow, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "rule", [CertaintyDiversity(), ReliableSamples(), NovelSamples(0.4, 0.6)], ids=lambda c: c.name
)
def test_weights_of_pixels_are_those_of_as_many_samples(rule: Weighting) -> None:
    rows = LOGITS.movedim(1, -1).reshape(-1, CLASSES)
    memory, same = first_memory(rule, CLASSES), first_memory(rule, CLASSES)
    for _ in range(2):  # memories have moved the second time
        found = rule.weights(step(LOGITS), memory)
        torch.testing.assert_close(found.flatten(), rule.weights(step(rows), same))
