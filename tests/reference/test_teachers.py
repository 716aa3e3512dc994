"""CoTTA, RoTTA and RMT compute what the public reference code computes."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.core.adapter import Adapter

TOLERANCE = 1e-4

OPTIONS: dict[str, dict[str, Any]] = {
    "cotta": {"restore": 0.0},
    "rotta": {"memory_size": 16},
    "rmt": {},
}


def started(method: str, norm: str, recorded: dict[str, Tensor]) -> Adapter:
    """The method as it was recorded: Adam 1e-3, and a flip wherever there is an augmentation."""
    options = dict(OPTIONS[method])
    if method == "rmt":
        source = recorded["source_x"].float() / 255
        options["source_data"] = list(
            zip(source.split(16), recorded["source_y"].split(16), strict=True)
        )
    model = nets.trained(norm, recorded)
    return trimtab.adapt(
        model, method, optimizer="adam", lr=1e-3, augment=lambda x: x.flip(-1), **options
    )


def take_recorded_projector(adapter: Adapter, norm: str, recorded: dict[str, Tensor]) -> None:
    """A random projector was recorded along; it takes the place of the stream's own."""
    adapter.begin(tuple(nets.images(recorded).shape[2:]))
    prefix = f"{norm}/rmt/projector/"
    memory = adapter.memory["prototype_contrast"]
    with torch.no_grad():
        for name, tensor in recorded.items():
            if name.startswith(prefix):
                memory[f"projector.{name.removeprefix(prefix)}"].copy_(tensor)


@pytest.mark.parametrize("method", OPTIONS)
def test_a_method_with_a_teacher_equals_the_recorded_reference(
    method: str, norm: str, recorded: dict[str, Tensor]
) -> None:
    adapter = started(method, norm, recorded)
    if method == "rmt":
        take_recorded_projector(adapter, norm, recorded)

    outputs = torch.stack([adapter(batch) for batch in nets.images(recorded)])

    case = f"{norm}/{method}"
    final = {
        name.removeprefix(f"{case}/final/"): tensor
        for name, tensor in recorded.items()
        if name.startswith(f"{case}/final/")
    }
    torch.testing.assert_close(outputs, recorded[f"{case}/outputs"], atol=TOLERANCE, rtol=0)
    assert final.keys() == adapter.params.keys()
    for name, param in adapter.params.items():
        torch.testing.assert_close(param.detach(), final[name], atol=TOLERANCE, rtol=0)
