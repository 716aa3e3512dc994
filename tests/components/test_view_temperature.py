"""A temperature from how often views agree."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

import trimtab
from components.steps import step
from reference import nets
from trimtab.components.view_temperature import ViewTemperature
from trimtab.core.backbone import Prediction, Tensors


def memory(log_temperature: float = 0.0) -> Tensors:
    return {"log_temperature": torch.tensor(log_temperature), "seen": torch.tensor(0.0)}


def look(own: Tensor, view: Tensor, kept: Tensors, rule: ViewTemperature | None = None) -> Tensor:
    rule = rule or ViewTemperature()
    seen = replace(
        step(own),
        forward=lambda inputs, params=None: Prediction(view, None),
        views={rule.name: torch.zeros(len(own), 1)},
    )
    return rule.loss(seen, kept)


def pair(sharpness: float, seed: int) -> tuple[Tensor, Tensor]:
    """Two looks at classes that are drawn with the probabilities of the first, made sharper."""
    generator = torch.Generator().manual_seed(seed)
    honest = 2 * torch.randn(256, 6, generator=generator)
    drawn = torch.multinomial(honest.softmax(1), 1, generator=generator)[:, 0]
    confidence = (sharpness * honest).softmax(1).amax(1)
    # the second look says the class that is there, as surely as the first does
    others = (1 - confidence) / 5
    second = torch.where(torch.eye(6)[drawn] > 0, confidence[:, None], others[:, None]).log()
    return sharpness * honest, second


def test_the_log_temperature_moves_by_the_gap() -> None:
    own, view = torch.randn(16, 4), torch.randn(16, 4)
    kept = memory(math.log(2))
    kept["seen"] += 48
    look(own, view, kept)
    sure = [logits.softmax(1).max(1).values.mean() for logits in (own, view, own / 2)]
    agreement = (own.argmax(1) == view.argmax(1)).float().mean()
    expected = math.log(2) + 3 * 16 / (16 + 48) * (sure[2] - agreement * sure[0] / sure[1])
    torch.testing.assert_close(kept["log_temperature"], expected)
    assert float(kept["seen"]) == 64


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 3.0])
def test_it_finds_the_temperature_that_makes_confidence_honest(sharpness: float) -> None:
    kept, found = memory(), []
    for seed in range(200):
        look(*pair(sharpness, seed), kept)
        found.append(float(kept["log_temperature"]))
    assert sum(found[100:]) / 100 == pytest.approx(math.log(sharpness), abs=0.05)


def test_nothing_is_learned_from_it() -> None:
    own = torch.randn(8, 4, requires_grad=True)
    loss = look(own, torch.randn(8, 4), memory())
    assert torch.equal(loss.detach(), torch.zeros(8))
    (gradient,) = torch.autograd.grad(loss.sum(), own)
    assert not gradient.any()


def test_it_divides_logits_and_stays_within_bounds() -> None:
    logits = torch.randn(8, 4)
    kept = memory(math.log(4))
    torch.testing.assert_close(ViewTemperature().correct(logits, step(logits), kept), logits / 4)
    for _ in range(200):
        look(torch.eye(4)[[0, 1]], 100 * torch.eye(4)[[2, 3]], kept)
    assert float(kept["log_temperature"].exp()) == pytest.approx(16)


def test_it_shares_the_pass_of_the_consistency_objective(model: nets.Net, images: Tensor) -> None:
    plain, warm = (trimtab.adapt(model, spec) for spec in ("roid", "roid + view_temperature"))
    for batch in images.split(16):
        plain(batch)
        warm(batch)
    assert plain.counters == warm.counters
    assert all(torch.equal(p, warm.params[name]) for name, p in plain.params.items())


def test_a_method_that_learns_nothing_stays_as_it_is(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "source + view_temperature")
    for batch in images.split(16):
        logits = adapter(batch)
        assert torch.equal(logits.argmax(1), trimtab.adapt(model, "source")(batch).argmax(1))
    assert float(adapter.memory["view_temperature"]["log_temperature"]) != 0
    assert all(torch.equal(p, adapter.source[name]) for name, p in adapter.params.items())


def test_the_rate_must_be_positive() -> None:
    with pytest.raises(ValueError, match="rate must be positive, got 0"):
        ViewTemperature(rate=0)
