"""The optimiser that suits the images."""

from dataclasses import replace

import pytest
import torch

from trimtab.core.optimizer import Moments, OptimizerChoice

LARGE, SMALL = (3, 224, 224), (3, 32, 32)


@pytest.mark.parametrize(
    ("shape", "kind", "lr"),
    [
        (SMALL, "adam", 1e-3),
        ((3, 64, 64), "adam", 1e-3),
        ((3, 65, 64), "sgd", 2.5e-4),
        (LARGE, "sgd", 2.5e-4),
        ((20,), "adam", 1e-3),
    ],
)
def test_small_images_take_adam_and_large_ones_sgd(
    shape: tuple[int, ...], kind: str, lr: float
) -> None:
    chosen = OptimizerChoice().settings(shape)
    assert (chosen.kind, chosen.lr) == (kind, lr)


def test_sgd_looks_ahead() -> None:
    chosen = OptimizerChoice("sgd").settings((3, 8, 8))
    assert chosen.nesterov
    assert chosen.momentum == 0.9


def test_a_given_kind_and_rate_win() -> None:
    chosen = OptimizerChoice("sgd", 0.1).settings((3, 8, 8))
    assert (chosen.kind, chosen.lr) == ("sgd", 0.1)


@pytest.mark.parametrize("decay", [0.0, 0.01])
@pytest.mark.parametrize(
    "choice",
    [
        OptimizerChoice("adam", 0.01),
        OptimizerChoice("sgd", 0.01),
        OptimizerChoice("sgd", 0.01, nesterov=False),
        OptimizerChoice("sgd", 0.01, momentum=0.0),
    ],
    ids=["adam", "nesterov", "momentum", "plain"],
)
def test_steps_are_those_of_torchs_own_optimisers(choice: OptimizerChoice, decay: float) -> None:
    choice = replace(choice, weight_decay=decay)
    ours = [torch.linspace(-1, 1, 6), torch.ones(3), torch.rand(2, 2)]
    theirs = [tensor.clone().requires_grad_() for tensor in ours]
    optimizer = choice.bound(theirs, {}, SMALL)
    moments: Moments = {}
    for step in range(4):
        for mine, other in zip(ours, theirs, strict=True):
            # the second tensor has no gradient at first, and so no moments
            gradient = None if step == 0 and mine.shape == (3,) else torch.randn_like(mine)
            mine.grad = gradient
            other.grad = None if gradient is None else gradient.clone()  # SGD adds to it
        optimizer.step()
        moments = choice.step(ours, moments, SMALL, 1.0)
        for mine, other in zip(ours, theirs, strict=True):
            assert torch.equal(mine, other)
    remembered = {place: optimizer.state[t] for place, t in enumerate(theirs) if choice.momentum}
    assert moments.keys() == remembered.keys()
    for place, values in remembered.items():
        assert moments[place].keys() == values.keys()
        assert all(torch.equal(moments[place][name], values[name]) for name in values)


@pytest.mark.parametrize("bad", [("adagrad", None), (None, -1.0), (None, float("nan"))])
def test_settings_are_checked(bad: tuple[str | None, float | None]) -> None:
    with pytest.raises(ValueError, match="must be"):
        OptimizerChoice(*bad)  # type: ignore[arg-type]
