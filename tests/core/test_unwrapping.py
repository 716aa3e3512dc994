"""From a model as users have it to modules that can be adapted."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


@pytest.mark.parametrize("method", ["bn1", "roid", "trimtab"])
def test_a_model_that_was_made_in_inference_mode_is_adapted_as_any_other(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    with torch.inference_mode():
        made = nets.trained("bn", recorded)
    usual = trimtab.adapt(nets.trained("bn", recorded), method, seed=1)
    adapter = trimtab.adapt(made, method, seed=1)
    for batch in images.split(16):
        assert torch.equal(adapter(batch), usual(batch))


def test_a_model_that_was_made_in_inference_mode_is_adapted_there_too(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    with torch.inference_mode():
        adapter = trimtab.adapt(nets.trained("bn", recorded), "tent")
        adapter(images[:16])
    assert adapter.counters.updates == 1
