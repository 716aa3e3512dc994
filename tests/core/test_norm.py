"""Batch norms that obey a policy, and the group norm that must not crash."""

import subprocess
import sys

import pytest
import torch
from torch import Tensor, nn

from trimtab.core.backbone import Backbone
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, blend, is_norm_layer, running, tracking


def layer() -> nn.BatchNorm2d:
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(4)
    assert norm.running_mean is not None
    assert norm.running_var is not None
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm


def by_hand(norm: nn.BatchNorm2d, x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    view = (1, -1, 1, 1)
    scaled = (x - mean.view(view)) / (var.view(view) + norm.eps).sqrt()
    return scaled * norm.weight.view(view) + norm.bias.view(view)


def output(norm: nn.Module, x: Tensor, policy: NormPolicy, **statistics: Tensor) -> Tensor:
    model = nn.Sequential(norm)
    stats = {f"0.{name}": value for name, value in statistics.items()}
    return Backbone(model)(x, {}, stats or None, policy).logits


X = torch.randn(6, 4, 5, 5, generator=torch.Generator().manual_seed(1)) * 2 + 1
MEAN, VAR = X.mean((0, 2, 3)), X.var((0, 2, 3), unbiased=False)


def test_source_uses_the_stored_statistics() -> None:
    norm = layer()
    expected = by_hand(norm, X, norm.running_mean, norm.running_var)  # type: ignore[arg-type]
    torch.testing.assert_close(output(norm, X, SOURCE), expected)


def test_batch_uses_the_batch_with_its_biased_variance() -> None:
    norm = layer()
    torch.testing.assert_close(output(norm, X, BATCH), by_hand(norm, X, MEAN, VAR))


@pytest.mark.parametrize("unbiased", [False, True])
def test_blend_mixes_means_and_variances(unbiased: bool) -> None:
    norm = layer()
    var = X.var((0, 2, 3), unbiased=unbiased)
    expected = by_hand(
        norm,
        X,
        0.7 * norm.running_mean + 0.3 * MEAN,  # type: ignore[operator]
        0.7 * norm.running_var + 0.3 * var,  # type: ignore[operator]
    )
    torch.testing.assert_close(output(norm, X, blend(0.3, unbiased=unbiased)), expected)


def test_running_stores_what_it_normalises_with() -> None:
    norm = layer()
    stored = {"running_mean": norm.running_mean.clone(), "running_var": norm.running_var.clone()}  # type: ignore[union-attr]
    result = output(norm, X, running(0.05), **stored)
    torch.testing.assert_close(stored["running_mean"], 0.95 * norm.running_mean + 0.05 * MEAN)  # type: ignore[operator]
    torch.testing.assert_close(stored["running_var"], 0.95 * norm.running_var + 0.05 * VAR)  # type: ignore[operator]
    torch.testing.assert_close(
        result, by_hand(norm, X, stored["running_mean"], stored["running_var"])
    )


def test_keeping_statistics_without_a_place_for_them_is_refused() -> None:
    with pytest.raises(ValueError, match="needs statistics"):
        output(layer(), X, running(0.05))


def test_gradients_flow_through_blended_statistics() -> None:
    norm = layer()
    x = X.clone().requires_grad_()
    output(norm, x, blend(0.5)).square().sum().backward()
    twin = X.clone().requires_grad_()
    mean = 0.5 * norm.running_mean + 0.5 * twin.mean((0, 2, 3))  # type: ignore[operator]
    var = 0.5 * norm.running_var + 0.5 * twin.var((0, 2, 3), unbiased=False)  # type: ignore[operator]
    by_hand(norm, twin, mean, var).square().sum().backward()
    torch.testing.assert_close(x.grad, twin.grad, atol=1e-4, rtol=1e-4)


def test_tracking_one_sample_at_a_time_forgets_like_a_window() -> None:
    norm = layer()
    stored = {"running_mean": norm.running_mean.clone(), "running_var": norm.running_var.clone()}  # type: ignore[union-attr]
    for sample in X.split(1):
        output(norm, sample, tracking(10, 1), **stored)
    share = 0.9**6
    weights = [0.1 * 0.9 ** (5 - i) for i in range(6)]
    sample_means = [sample.mean((0, 2, 3)) for sample in X.split(1)]
    squares = [sample.square().mean((0, 2, 3)) for sample in X.split(1)]
    mean = share * norm.running_mean  # type: ignore[operator]
    second = share * (norm.running_var + norm.running_mean.square())  # type: ignore[operator, union-attr]
    for weight, first, square in zip(weights, sample_means, squares, strict=True):
        mean, second = mean + weight * first, second + weight * square
    torch.testing.assert_close(stored["running_mean"], mean)
    torch.testing.assert_close(stored["running_var"], second - mean.square())  # type: ignore[union-attr]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_later_half_takes_a_share_of_both_weights(share: float) -> None:
    norms = [layer() for _ in range(3)]
    model = nn.Sequential(*norms)
    stored = {name: value.clone() for name, value in model.named_buffers() if "running" in name}
    policy = NormPolicy(0.5, keep_weight=0.25, late_share=share)
    with torch.no_grad():
        found = Backbone(model)(X, statistics=stored, policy=policy).logits
        expected = X
        for number, norm in enumerate(norms):
            part = share if number == 2 else 1.0  # the middle one counts to the first half
            mean, var = expected.mean((0, 2, 3)), expected.var((0, 2, 3), unbiased=False)
            kept = norm.running_mean.lerp(mean, 0.25 * part)  # type: ignore[union-attr]
            torch.testing.assert_close(stored[f"{number}.running_mean"], kept)
            mean, var = (
                norm.running_mean.lerp(mean, 0.5 * part),  # type: ignore[union-attr]
                norm.running_var.lerp(var, 0.5 * part),  # type: ignore[union-attr]
            )
            expected = by_hand(norm, expected, mean, var)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_the_first_half_takes_a_share_of_the_batch_and_keeps_as_much(share: float) -> None:
    policy = NormPolicy(0.5, keep_weight=0.25, early_share=share)
    assert policy.weights(late=False) == (0.5 * share, 0.25)
    assert policy.weights(late=True) == (0.5, 0.25)
    assert policy.couples_samples


def test_what_subclasses_add_to_a_batch_norm_stays() -> None:
    class WithActivation(nn.BatchNorm2d):
        def forward(self, input: Tensor) -> Tensor:  # noqa: A002
            return super().forward(input).relu()

    norm = WithActivation(4)
    norm.load_state_dict(layer().state_dict())
    for policy in (SOURCE, BATCH, blend(0.4)):
        plain = output(layer(), X, policy)
        torch.testing.assert_close(output(norm, X, policy), plain.relu())


@pytest.mark.parametrize("policy", [BATCH, blend(0.3), SOURCE])
def test_a_single_value_a_channel_falls_back_to_the_stored_statistics(policy: NormPolicy) -> None:
    norm = nn.BatchNorm1d(4)
    norm.running_mean.fill_(1.0)  # type: ignore[union-attr]
    x = torch.randn(1, 4)
    torch.testing.assert_close(output(norm, x, policy), norm.eval()(x))


def test_a_single_value_with_nothing_stored_gives_the_shift() -> None:
    norm = nn.BatchNorm1d(4, track_running_stats=False)
    nn.init.normal_(norm.bias)
    torch.testing.assert_close(output(norm, torch.randn(1, 4), BATCH)[0], norm.bias.detach())


def test_weights_outside_the_unit_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"batch_weight must lie in \[0, 1\], got 1.5"):
        blend(1.5)


@pytest.mark.parametrize(
    "norm",
    [nn.BatchNorm1d(4), nn.LayerNorm(4), nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)],
)
def test_torchs_norm_layers_are_recognised(norm: nn.Module) -> None:
    assert is_norm_layer(norm)


def test_a_users_own_norm_layer_is_recognised_by_its_name() -> None:
    class RootMeanSquareNorm(nn.Module):
        pass

    assert is_norm_layer(RootMeanSquareNorm())
    assert not is_norm_layer(nn.Linear(2, 2))


CHANNELS_LAST = """
import torch, trimtab
from torch import nn
torch.manual_seed(0)
model = nn.Sequential(
    nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(8, 5),
)
{layout}
images = torch.rand(6, 12, 12, 3).permute(0, 3, 1, 2)   # an NHWC array seen as NCHW
adapter = trimtab.adapt(model, "roid")
for _ in range(2):
    adapter(images)
assert adapter.counters.updates == 2
print("survived")
"""


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["", "model = model.to(memory_format=torch.channels_last)"])
def test_group_norm_on_channels_last_images_does_not_crash(layout: str) -> None:
    script = CHANNELS_LAST.format(layout=layout)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, f"exit status {done.returncode}: {done.stderr}"
    assert "survived" in done.stdout
