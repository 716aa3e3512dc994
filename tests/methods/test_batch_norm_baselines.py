"""BN-1, BN-alpha and BN-EMA: which statistics, and which variance."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets

STORED_MEAN, STORED_VAR = torch.tensor([0.5, -1.0]), torch.tensor([4.0, 0.25])


class OneNorm(nn.Module):
    """A batch norm whose spatial mean is the logits, so that outputs show its statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(2)
        assert self.norm.running_mean is not None
        assert self.norm.running_var is not None
        self.norm.running_mean.copy_(STORED_MEAN)
        self.norm.running_var.copy_(STORED_VAR)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x)[:, :, 0, 0]


def small_batch() -> Tensor:
    """Few values a channel, where dividing by n or by n - 1 shows."""
    return torch.randn(16, 2, 1, 1, generator=torch.Generator().manual_seed(0))


def normalised(x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    return (x[:, :, 0, 0] - mean) / (var + 1e-5).sqrt()


def moments(x: Tensor, correction: int) -> tuple[Tensor, Tensor]:
    return x.mean((0, 2, 3)), x.var((0, 2, 3), correction=correction)


def test_bn1_divides_by_n() -> None:
    x = small_batch()
    mean, var = moments(x, correction=0)
    torch.testing.assert_close(trimtab.adapt(OneNorm(), "bn1")(x), normalised(x, mean, var))


def test_bn_alpha_divides_by_n_minus_1() -> None:
    x = small_batch()
    mean, var = moments(x, correction=1)
    expected = normalised(x, STORED_MEAN.lerp(mean, 0.3), STORED_VAR.lerp(var, 0.3))
    adapter = trimtab.adapt(OneNorm(), "bn_alpha", batch_weight=0.3)
    torch.testing.assert_close(adapter(x), expected)


def test_bn_alpha_remembers_nothing() -> None:
    x, adapter = small_batch(), trimtab.adapt(OneNorm(), "bn_alpha")
    assert torch.equal(adapter(x), adapter(x))


def test_bn_ema_moves_its_statistics_and_predicts_with_them() -> None:
    x, adapter = small_batch(), trimtab.adapt(OneNorm(), "bn_ema")
    batch_mean, batch_var = moments(x, correction=1)
    mean, var = STORED_MEAN, STORED_VAR
    for _ in range(3):
        mean, var = mean.lerp(batch_mean, 0.1), var.lerp(batch_var, 0.1)
        torch.testing.assert_close(adapter.predict(x), normalised(x, mean, var))
        torch.testing.assert_close(adapter(x), normalised(x, mean, var))
    adapter.reset()
    torch.testing.assert_close(adapter.statistics["norm.running_mean"], STORED_MEAN)


@pytest.mark.parametrize("norm", ["bn"])
def test_bn_ema_predicts_exactly_what_a_call_returns(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "bn_ema")
    for batch in images[:48].split(16):
        counters, statistics = adapter.counters.forward_samples, dict(adapter.statistics)
        predicted = adapter.predict(batch)
        assert adapter.counters.forward_samples == counters
        assert all(torch.equal(s, statistics[name]) for name, s in adapter.statistics.items())
        assert torch.equal(predicted, adapter(batch))


@pytest.mark.parametrize("method", ["bn1", "bn_alpha", "bn_ema"])
@pytest.mark.parametrize("norm", ["gn", "ln"])
def test_without_batch_norms_they_are_the_source(
    model: nets.Net, images: Tensor, method: str
) -> None:
    source = trimtab.adapt(model, "source")
    adapter = trimtab.adapt(model, method)
    assert torch.equal(adapter(images[:16]), source(images[:16]))


@pytest.mark.parametrize("method", ["bn_alpha", "bn_ema"])
def test_a_share_out_of_range_is_refused(method: str) -> None:
    with pytest.raises(ValueError, match=r"batch_weight must lie in \[0, 1\], got 1.5"):
        trimtab.build(method, batch_weight=1.5)


@pytest.mark.parametrize("norm", ["bn"])
def test_bn_ema_can_learn_too(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "bn_ema + entropy")
    for batch in images[:48].split(16):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 3
