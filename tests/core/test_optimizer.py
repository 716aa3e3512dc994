"""The optimiser that suits the images."""

import pytest
import torch

from trimtab.core.optimizer import OptimizerChoice

PARAMS = [torch.zeros(2, requires_grad=True)]


@pytest.mark.parametrize(
    ("shape", "kind", "lr"),
    [
        ((3, 32, 32), torch.optim.Adam, 1e-3),
        ((3, 64, 64), torch.optim.Adam, 1e-3),
        ((3, 65, 64), torch.optim.SGD, 2.5e-4),
        ((3, 224, 224), torch.optim.SGD, 2.5e-4),
        ((20,), torch.optim.Adam, 1e-3),
    ],
)
def test_small_images_take_adam_and_large_ones_sgd(
    shape: tuple[int, ...], kind: type, lr: float
) -> None:
    optimizer = OptimizerChoice().build(PARAMS, shape)
    assert type(optimizer) is kind
    assert optimizer.defaults["lr"] == lr


def test_sgd_looks_ahead() -> None:
    defaults = OptimizerChoice("sgd").build(PARAMS, (3, 8, 8)).defaults
    assert defaults["nesterov"]
    assert defaults["momentum"] == 0.9


def test_a_given_kind_and_rate_win() -> None:
    optimizer = OptimizerChoice("sgd", 0.1).build(PARAMS, (3, 8, 8))
    assert isinstance(optimizer, torch.optim.SGD)
    assert optimizer.defaults["lr"] == 0.1


@pytest.mark.parametrize("bad", [("adagrad", None), (None, -1.0), (None, float("nan"))])
def test_settings_are_checked(bad: tuple[str | None, float | None]) -> None:
    with pytest.raises(ValueError, match="must be"):
        OptimizerChoice(*bad)  # type: ignore[arg-type]
