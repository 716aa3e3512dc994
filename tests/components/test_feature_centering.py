"""The classifier sees features around zero."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

import trimtab
from reference import nets
from trimtab.components.feature_centering import FeatureCentering


def features_by_hand(model: nn.Module, head: nn.Linear, images: Tensor) -> Tensor:
    """What reaches the classifier, in evaluation mode, one image at a time."""
    seen: list[Tensor] = []
    handle = head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0].detach()))
    with torch.no_grad():
        for image in images.split(1):
            model.eval()(image)
    handle.remove()
    return torch.cat(seen)


def centred_by_hand(
    head: nn.Linear, features: Tensor, batch: int, prior: int, horizon: int | None
) -> Tensor:
    """head(h - mean), the mean written out as a weight for each sample."""
    outputs, mean, known = [], torch.zeros_like(features[0]), prior
    for rows in features.split(batch):
        known = known + len(rows)
        if horizon is not None:
            known = min(known, max(horizon, len(rows)))
        mean = mean * (1 - len(rows) / known) + sum(rows) / known
        outputs += [linear(h - mean, head.weight, head.bias) for h in rows]
    return torch.stack(outputs).detach()


def last_linear(model: nn.Module) -> nn.Linear:
    return [layer for layer in model.modules() if isinstance(layer, nn.Linear)][-1]


@pytest.mark.parametrize("batch", [1, 5, 12])
@pytest.mark.parametrize(("prior", "horizon"), [(16, None), (0, None), (4, 8)])
def test_it_is_the_head_of_centred_features(
    batch: int, prior: int, horizon: int | None, model: nets.Net, images: Tensor
) -> None:
    model, images = model.double(), images[:24].double()
    head = last_linear(model)
    features = features_by_hand(model, head, images)
    expected = centred_by_hand(head, features, batch, prior, horizon)
    method = trimtab.build("neo", prior_samples=prior, horizon_samples=horizon)
    adapter = trimtab.adapt(model, method)
    found = torch.cat([adapter(part) for part in images.split(batch)])
    torch.testing.assert_close(found, expected)


def test_without_a_prior_the_first_sample_alone_is_its_own_mean(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "neo", prior_samples=0)
    torch.testing.assert_close(adapter(images[:1])[0], last_linear(model).bias.detach())


def test_a_common_shift_of_all_features_is_taken_out() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(12, 5))
    inputs, shift = torch.randn(32, 12), 2 * torch.randn(12)
    plain, moved = (trimtab.adapt(model, "neo", prior_samples=0) for _ in range(2))
    torch.testing.assert_close(plain(inputs), moved(inputs + shift), atol=1e-4, rtol=1e-4)


def test_a_head_without_bias_is_centred_too() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(12, 5, bias=False))
    logits = trimtab.adapt(model, "neo", prior_samples=0)(torch.rand(8, 12))
    torch.testing.assert_close(logits.mean(0), torch.zeros(5), atol=1e-5, rtol=0)


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="horizon_samples must be at least 1 sample, got 0"):
        FeatureCentering(horizon_samples=0)
    with pytest.raises(ValueError, match="prior_samples must be at least 0, got -1"):
        FeatureCentering(prior_samples=-1)
