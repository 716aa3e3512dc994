"""Prompts are found without a backward pass, and features moved to the source's mean."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear

import trimtab
from core.test_prompted import IMAGES, transformer
from reference import nets
from trimtab.core import evolution
from trimtab.functional import entropy
from trimtab.methods.foa import MEMORY, PromptSearch, foa
from trimtab.testing import check_method

SOURCE_IMAGES = torch.rand(24, 3, 32, 32, generator=torch.Generator().manual_seed(3))


def statistics(features: Tensor) -> tuple[Tensor, Tensor]:
    return features.mean(0), ((features - features.mean(0)) ** 2).mean(0).sqrt()


def test_the_best_of_a_generation_predicts_and_the_search_learns() -> None:
    backbone = trimtab.Backbone(trimtab.prompted(transformer()))
    method = trimtab.Method((), learner=PromptSearch(6, 0.5, 2.0, [SOURCE_IMAGES]))
    adapter = trimtab.adapt(backbone, method, seed=5)
    adapter.begin((3, 32, 32))
    with torch.no_grad():
        mean, deviation = statistics(backbone(SOURCE_IMAGES).features)  # type: ignore[arg-type]
    search = evolution.begun(3 * 16, 0.5, torch.device("cpu"))
    for _ in range(2):
        generator = torch.Generator()
        generator.set_state(adapter.generator.get_state())
        tried = evolution.candidates(search, 6, generator)
        costs, found = [], []
        for candidate in tried:
            with torch.no_grad():
                seen = backbone(IMAGES, {"prompts": candidate.view(3, 16)})
            own_mean, own_deviation = statistics(seen.features)  # type: ignore[arg-type]
            distance = (own_mean - mean).norm() + (own_deviation - deviation).norm()
            costs.append(entropy(seen.logits).mean() + 2 * distance / deviation.norm())
            found.append(seen.logits)
        logits = adapter(IMAGES)
        torch.testing.assert_close(logits, found[int(torch.stack(costs).argmin())])
        evolution.learn(search, tried, torch.stack(costs))
        torch.testing.assert_close(adapter.memory[MEMORY]["mean"], search["mean"])
    assert adapter.counters.forward_samples == 24 + 2 * 7 * len(IMAGES)
    assert adapter.counters.backward_samples == 0


def test_the_search_lowers_its_cost() -> None:
    method = trimtab.Method((), learner=PromptSearch(16, 0.5, distance_weight=0.0))
    adapter = trimtab.adapt(trimtab.prompted(transformer()), method)
    first = entropy(adapter(IMAGES)).mean()
    for _ in range(8):
        last = entropy(adapter(IMAGES)).mean()
    assert last < first


def test_features_move_to_the_sources_mean(model: nets.Net, images: Tensor) -> None:
    shift = trimtab.COMPONENTS["feature_centering"](prior_samples=0, source_data=[images[:32]])
    adapter = trimtab.adapt(model, trimtab.build("neo").plus(shift))
    model.eval()
    features, source = model.encoder(images[32:48]), model.encoder(images[:32])
    moved = features - features.mean(0) + source.mean(0)
    expected = linear(moved, model.classifier.weight, model.classifier.bias).detach()
    torch.testing.assert_close(adapter(images[32:48]), expected, atol=1e-5, rtol=1e-4)


@pytest.mark.slow
def test_it_keeps_the_contract_with_prompts() -> None:
    images = torch.rand(80, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    check_method(foa, models=[trimtab.prompted(transformer())], images=images, population=4)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="population must be at least 4, got 3"):
        PromptSearch(3)
    with pytest.raises(ValueError, match="deviation must be positive, got 0"):
        PromptSearch(deviation=0)
