"""Source weights come back when the loss is too good to be true."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.recovery import Recovery


def memory() -> dict[str, Tensor]:
    return {"recoveries": torch.tensor(0)}


def test_the_average_starts_at_the_first_loss_and_follows_slowly() -> None:
    rule, state = Recovery(momentum=0.9), memory()
    rule.observe(torch.tensor([1.0, 3.0]), state)
    assert state["mean_loss"] == 2
    rule.observe(torch.tensor([1.0]), state)
    torch.testing.assert_close(state["mean_loss"], torch.tensor(1.9))
    rule.observe(torch.tensor([]), state)
    torch.testing.assert_close(state["mean_loss"], torch.tensor(1.9))


def test_a_low_average_brings_the_source_back_and_starts_anew() -> None:
    rule, state = Recovery(min_loss=0.2), memory()
    params, source = {"a": torch.tensor([5.0])}, {"a": torch.tensor([1.0])}
    rule.observe(torch.tensor([0.2]), state)
    rule.after_update(params, source, state)
    assert params["a"] == 5  # not below
    rule.observe(torch.tensor([0.0]), state)
    rule.after_update(params, source, state)
    assert params["a"] == 1
    assert state == {"recoveries": torch.tensor(1)}
    rule.after_update(params, source, state)
    assert state["recoveries"] == 1


@pytest.mark.parametrize("norm", ["ln"])
def test_it_works_on_any_method_that_learns(model: nets.Net, images: Tensor) -> None:
    always = trimtab.adapt(model, "tent + recovery(min_loss=100.0)")
    never = trimtab.adapt(model, "tent + recovery(min_loss=-1.0)")
    for adapter in (always, never):
        adapter(images[:16])
    assert always.memory["recovery"]["recoveries"] == 1
    assert never.memory["recovery"]["recoveries"] == 0
    assert all(torch.equal(p, always.source[name]) for name, p in always.params.items())
    assert not any(torch.equal(p, never.source[name]) for name, p in never.params.items())
