"""One run."""

import pytest

from bench.stores import tiny_spec
from trimtab.bench import gate, runner
from trimtab.bench.runner import run


@pytest.mark.slow
def test_a_run_is_decided_by_its_spec() -> None:
    first, second = (run(tiny_spec(method="roid", scenario="mixed")) for _ in range(2))
    assert first.scores == second.scores
    assert first.scores is not None
    assert first.scores.samples == 15 * 8
    assert first.cost is not None
    assert first.cost.backwards > 0


@pytest.mark.slow
def test_a_run_says_which_share_of_the_parameters_it_trains() -> None:
    shares = {
        method: cost.trained_share
        for method in ("source", "tent", "rmt")
        if (cost := run(tiny_spec(method=method)).cost) is not None
    }
    norms = 2 * (7 * 8 + 6 * 16 + 6 * 32)  # scale and shift of a ResNet-20 of width 8
    network = runner.backbone_of("fashion_resnet20_gn").model
    every = sum(parameter.numel() for parameter in network.parameters())
    assert shares == {"source": 0.0, "tent": norms / every, "rmt": 1.0}


def test_a_run_that_fails_is_a_result_with_its_error() -> None:
    result = run(tiny_spec(method="no_such_method"))
    assert result.status == "failed"
    assert result.error is not None
    assert "unknown method 'no_such_method'" in result.error


def test_the_source_method_has_the_source_models_error_and_no_flips() -> None:
    scores = run(tiny_spec()).scores
    assert scores is not None
    assert scores.error == scores.source_error
    assert scores.negative_flips == scores.positive_flips == 0


@pytest.mark.slow
def test_reset_each_shift_resets_at_each_domain() -> None:
    cost = run(tiny_spec(method="tent", scenario="reset_each_shift")).cost
    assert cost is not None
    assert cost.resets == 15


def test_the_wrong_normalisation_stops_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from trimtab import models

    wrong = models.load("fashion_resnet20_bn", normalization=((0.9,) * 3, (0.05,) * 3))
    monkeypatch.setattr(runner, "backbone_of", lambda model: wrong)
    runner.gate_of.cache_clear()
    result = run(tiny_spec(model="fashion_resnet20_bn"))
    runner.gate_of.cache_clear()
    assert result.status == "failed"
    assert result.error is not None
    assert "wrong weights or wrong normalisation?" in result.error


def test_other_weights_than_planned_stop_a_run() -> None:
    result = run(tiny_spec(weights="0123456789abcdef"))
    assert result.error == "fashion_resnet20_gn no longer has the weights 0123456789abcdef"


def test_the_gate_lets_the_right_model_pass() -> None:
    from trimtab import models, streams

    accuracy = gate.check(
        "fashion_vit", models.load("fashion_vit"), "fashion_mnist", streams.load("fashion_mnist")
    )
    assert accuracy is not None
    assert accuracy > 85
