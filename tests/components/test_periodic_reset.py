"""A stream that begins again every so often."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.periodic_reset import PeriodicReset


@pytest.mark.parametrize("norm", ["bn"])
def test_the_batch_after_the_period_is_predicted_by_the_source_weights(
    model: nets.Net, images: Tensor
) -> None:
    resetting = trimtab.adapt(model, "tent + periodic_reset(every=2)")
    fresh = trimtab.adapt(model, "tent + periodic_reset(every=2)")
    first, second, third = images[:48].split(16)
    resetting(first)
    assert not torch.equal(resetting.predict(third), fresh.predict(third))
    resetting(second)
    assert resetting.counters.resets == 1
    assert torch.equal(resetting(third), fresh(third))
    assert resetting.counters.resets == 1


@pytest.mark.parametrize("norm", ["ln"])
def test_with_a_window_full_windows_are_counted(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "tent + periodic_reset(every=2)", window=4)
    resets = []
    for image in images[:16].split(1):
        adapter(image)
        resets.append(adapter.counters.resets)
    assert resets == [0] * 7 + [1] * 8 + [2]


def test_a_period_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="every must be at least 1 batch, got 0"):
        PeriodicReset(every=0)
