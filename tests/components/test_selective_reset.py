"""Collapse leads back to the source, a run of one class does not."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.selective_reset import SelectiveReset, spread
from trimtab.core.backbone import Tensors
from trimtab.core.component import Start, Step
from trimtab.core.prediction import Prediction

CLASSES = 10


@dataclass
class ByHand:
    """The authors' rule as they wrote it down, in plain numbers and with no thought of speed."""

    params: list[Tensor]
    source: list[Tensor]
    threshold: float = math.log(0.5 * CLASSES)
    steps: int = 0
    gradients: list[list[Tensor]] = field(default_factory=list)
    visited: list[list[Tensor]] = field(default_factory=list)
    fisher: list[Tensor] | None = None
    mean: list[Tensor] | None = None

    def step(self, adapted: Tensor, source: Tensor, gradients: list[Tensor]) -> float:
        """Take in a batch whose update has led to ``params``; the factor on the next price."""
        mean = [sum(column) / len(adapted) for column in adapted.T.tolist()]
        weights = [math.exp(value) for value in mean]
        shares = [weight / sum(weights) for weight in weights]
        spread_now = -sum(p * math.log(p) for p in shares)
        differing = sum(
            int(a.argmax() != b.argmax()) for a, b in zip(adapted, source, strict=True)
        ) / len(adapted)
        self.gradients.append(gradients)
        if spread_now < self.threshold:
            self.reset(spread_now)
        else:
            momentum = 0.15 * differing + 0.85
            self.threshold = momentum * self.threshold + (1 - momentum) * spread_now
        return 5 * differing**2

    def reset(self, spread_now: float) -> None:
        squares = [
            torch.stack(column).square().mean(0) for column in zip(*self.gradients, strict=True)
        ]
        means = [torch.stack(column).mean(0) for column in zip(*self.visited, strict=True)]
        old_fisher, old_mean = self.fisher or squares, self.mean or means
        self.fisher = [0.9 * a + 0.1 * b for a, b in zip(old_fisher, squares, strict=True)]
        self.mean = [0.9 * a + 0.1 * b for a, b in zip(old_mean, means, strict=True)]
        kept = max(0.5 - 20 * (self.threshold - spread_now), 0) * len(self.params)
        for place in range(len(self.params)):
            if place >= kept:
                self.params[place] = self.source[place].clone()
        self.threshold, self.gradients, self.visited = math.log(0.5 * CLASSES), [], []


def a_step(adapted: Tensor, source: Tensor) -> Step:
    return Step(
        inputs=torch.zeros(len(adapted), 1),
        prediction=Prediction(adapted, None),
        forward=lambda inputs, params=None, policy=None: Prediction(source, None),
        generator=torch.Generator(),
        recent=Prediction(adapted, None),
    )


def memory_of(rule: SelectiveReset, source: Tensors) -> Tensors:
    start = Start(
        backbone=trimtab.Backbone(torch.nn.Identity()),
        source=source,
        num_classes=CLASSES,
        num_features=None,
        sample_shape=(1,),
        device=torch.device("cpu"),
        forward=lambda *_: Prediction(torch.zeros(1, CLASSES), None),
        generator=torch.Generator(),
    )
    return rule.new_memory(start)


def test_it_is_the_rule_as_the_authors_wrote_it_down() -> None:
    generator = torch.Generator().manual_seed(0)

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator)

    source = {f"layer{place}": noise(3) for place in range(8)}
    params = {name: value.clone() for name, value in source.items()}
    rule = SelectiveReset(heed_source=False)
    memory, hand = memory_of(rule, source), ByHand([*params.values()], [*source.values()])
    for number in range(60):
        collapse = torch.zeros(CLASSES)
        collapse[0] = 0.05 * (number % 30)  # drifts to one class, twice
        adapted = 2 * noise(16, CLASSES) + collapse
        original = torch.where(noise(16, 1) > -1, adapted, noise(16, CLASSES))
        gradients = {name: noise(3) for name in params}
        rule.weights(a_step(adapted, original), memory)
        price = rule.penalty(params, source, memory)
        if hand.fisher is not None and hand.mean is not None:
            factor = 5 * float(memory["differing"]) ** 2
            parts = zip(hand.fisher, hand.params, hand.mean, strict=True)
            expected = factor * sum(((f * (p - m) ** 2).sum() for f, p, m in parts))
            torch.testing.assert_close(price, torch.as_tensor(expected))
        own = rule.weight * memory["differing"] ** 2 * 2
        shown = {
            name: gradient
            + own * memory["fisher/" + name] * (params[name] - memory["mean/" + name])
            for name, gradient in gradients.items()
        }
        rule.see_gradients(params, shown, memory)
        hand.visited.append([p.clone() for p in params.values()])
        params = {name: p - 0.1 * gradients[name] for name, p in params.items()}
        hand.params = [p.clone() for p in params.values()]
        rule.after_update(params, source, memory)
        hand.step(adapted, original, [*gradients.values()])
        for found, wanted in zip(params.values(), hand.params, strict=True):
            torch.testing.assert_close(found, wanted)
        assert float(memory["threshold"]) == pytest.approx(hand.threshold, abs=1e-5)
        assert rule.restarts_optimizer(memory) == (not hand.gradients)
    assert memory["resets"] >= 2


def counted_resets(rule: SelectiveReset, batches: Callable[[int], tuple[Tensor, Tensor]]) -> int:
    source = {"a": torch.zeros(2)}
    params, memory = {"a": torch.ones(2)}, memory_of(rule, source)
    for number in range(40):
        rule.weights(a_step(*batches(number)), memory)
        rule.after_update(params, source, memory)
    return int(memory["resets"])


def of_classes(classes: list[int], seed: int) -> Tensor:
    """Logits of samples of these classes, 64 of them."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.tensor(classes)[torch.randint(len(classes), (64,), generator=generator)]
    hot = torch.nn.functional.one_hot(labels, CLASSES).float()
    return 6 * hot + torch.randn(64, CLASSES, generator=generator)


EVERY = [*range(CLASSES)]


def test_a_run_of_one_class_is_no_collapse() -> None:
    """Both models see the run; the source is right about half of it."""

    def batches(number: int) -> tuple[Tensor, Tensor]:
        run = EVERY if number < 10 or number >= 30 else [3]
        half = torch.cat([of_classes(run, number)[:32], of_classes(EVERY, number)[32:]])
        return of_classes(run, number), half

    assert counted_resets(SelectiveReset(), batches) == 0
    assert counted_resets(SelectiveReset(heed_source=False), batches) > 0


def test_a_collapse_is_one_whatever_the_source_thinks_of_other_classes() -> None:
    def batches(number: int) -> tuple[Tensor, Tensor]:
        return of_classes(EVERY if number < 10 else [3], number), of_classes(EVERY, number)

    assert counted_resets(SelectiveReset(), batches) > 0


def test_a_source_that_favours_a_class_for_good_excuses_nothing_for_ever() -> None:
    def batches(number: int) -> tuple[Tensor, Tensor]:
        return of_classes(EVERY if number < 5 else [3], number), of_classes(
            EVERY if number < 5 else [3, 4], number
        )

    assert counted_resets(SelectiveReset(), batches) == 0
    assert counted_resets(SelectiveReset(usual_momentum=0.5), batches) > 0


def test_a_reset_forgets_the_optimisers_moments(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "tent + selective_reset(first_share=1, heed_source=False)")
    adapter(images[:32])
    assert adapter.beliefs["selective_reset"]["resets"] == 1
    assert adapter.state.moments == {}
    kept = trimtab.adapt(model, "tent + selective_reset(first_share=0.01)")
    kept(images[:32])
    assert kept.state.moments


def test_spread_is_the_entropy_of_the_mean_prediction() -> None:
    assert float(spread(torch.zeros(4, CLASSES))) == pytest.approx(math.log(CLASSES))
    assert float(spread(of_classes([1], 0))) < float(spread(of_classes(EVERY, 0)))


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="first_share must be positive, got 0"):
        SelectiveReset(first_share=0)
    with pytest.raises(ValueError, match="weight must be 0 or more, got -1"):
        SelectiveReset(weight=-1)
