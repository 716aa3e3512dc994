"""ROID computes what the public reference code computes."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets

TOLERANCE = 1e-4

VARIANTS: dict[str, dict[str, Any]] = {
    "full": {},
    "no_prior": {"prior": None},
    "weighting_ensembling": {"prior": None, "consistency": False},
    "weighting": {"prior": None, "consistency": False, "ensembling": None},
    "slr": {"prior": None, "consistency": False, "ensembling": None, "weighting": False},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_roid_equals_the_recorded_reference(
    variant: str, norm: str, recorded: dict[str, Tensor]
) -> None:
    adapter = trimtab.adapt(
        nets.trained(norm, recorded),
        "roid",
        augment=lambda x: x.flip(-1),
        optimizer="adam",
        lr=1e-3,
        **VARIANTS[variant],
    )

    outputs = torch.stack([adapter(batch) for batch in nets.images(recorded)])

    case = f"{norm}/roid/{variant}"
    torch.testing.assert_close(outputs, recorded[f"{case}/outputs"], atol=TOLERANCE, rtol=0)
    final = {
        name.removeprefix(f"{case}/final/"): tensor
        for name, tensor in recorded.items()
        if name.startswith(f"{case}/final/")
    }
    assert final.keys() == adapter.params.keys()
    for name, param in adapter.params.items():
        torch.testing.assert_close(param.detach(), final[name], atol=TOLERANCE, rtol=0)
