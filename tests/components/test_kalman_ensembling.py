"""Weights that are held by a filtered model."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.kalman_ensembling import KalmanEnsembling


def filtered_by_hand(weights: list[float], source: float, noise: float) -> list[float]:
    """CMF's equations for one number, with its published constants."""
    hidden, variance, results = source, 0.0, []
    for weight in weights:
        hidden = 0.99 * hidden + 0.01 * source
        predicted = 0.99**2 * variance + noise
        stays = max((1 - noise) / (predicted + 1 - noise), 0.89)
        stays = 1.0 if stays >= 0.9999 else stays
        variance = stays * predicted
        hidden = stays * hidden + (1 - stays) * weight
        results.append(0.99 * weight + 0.01 * hidden)
    return results


@pytest.mark.parametrize("noise", [0.0, 1e-5, 0.005, 0.3])
def test_it_follows_the_filters_equations(noise: float) -> None:
    rule = KalmanEnsembling(noise=noise)
    source = {"a": torch.full((38_400,), 1.0, dtype=torch.float64)}
    memory = {"hidden.a": source["a"].clone(), "variance": torch.zeros((), dtype=torch.float64)}
    weights = [2.0, 2.5, 1.0, -3.0, 0.5]
    for weight, expected in zip(weights, filtered_by_hand(weights, 1.0, noise), strict=True):
        params = {"a": torch.full((38_400,), weight, dtype=torch.float64)}
        rule.after_update(params, source, memory)
        assert params["a"][0].item() == pytest.approx(expected, abs=1e-12)


def test_noise_grows_with_the_number_of_parameters_up_to_one_half() -> None:
    rule = KalmanEnsembling()
    for parameters, noise in ((19_200, 0.0025), (38_400, 0.005), (10**9, 0.5)):
        memory = {"variance": torch.zeros((), dtype=torch.float64)}
        stays = rule.gain(parameters, memory)
        assert stays == pytest.approx(max(1 - noise, 0.89))


def test_the_hidden_model_is_a_copy(model: nets.Net, images: Tensor) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    adapter = trimtab.adapt(model, "tent + kalman_ensembling(noise=1.0)")
    adapter(images[:16])
    hidden = adapter.memory["kalman_ensembling"]
    assert any(not torch.equal(hidden[f"hidden.{n}"], v) for n, v in adapter.source.items())
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_shares_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"noise must lie in \[0, 1\], got 2"):
        KalmanEnsembling(noise=2)
