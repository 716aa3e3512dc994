"""The baselines compute what the public reference code computes."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets

TOLERANCE = 1e-4

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "source": ("source", {}),
    "bn1": ("bn1", {}),
    "bn_alpha": ("bn_alpha", {}),
    "bn_ema": ("bn_ema", {}),
    "tent": ("tent", {}),
    "rpl": ("rpl", {}),
    "eata/eta": ("eta", {}),
    "eata/eata": ("eata", {"fisher_weight": 500_000.0}),
    "sar": ("sar", {}),
    "deyo": ("deyo", {"destruction": "occlusion"}),
    "cmf": ("cmf", {"augment": lambda images: images.flip(-1)}),
    "lame": ("lame", {}),
}
"""By recorded case: the method and its options."""

BATCH_NORM_ONLY = ("bn1", "bn_alpha", "bn_ema")


@pytest.mark.parametrize(
    ("norm", "case"),
    [
        (norm, case)
        for case in CASES
        for norm in ("bn", "gn", "ln")
        if norm == "bn" or case not in BATCH_NORM_ONLY
    ],
)
def test_outputs_and_final_parameters_equal_the_recorded_ones(
    norm: str, case: str, recorded: dict[str, Tensor]
) -> None:
    method, options = CASES[case]
    if method == "eata":
        options = {**options, "source_data": (recorded["source_x"].float() / 255).split(16)}
    adapter = trimtab.adapt(nets.trained(norm, recorded), method, **options)

    outputs = torch.stack([adapter(batch) for batch in nets.images(recorded)])

    if case == "lame":  # the reference returns probabilities
        outputs = outputs.softmax(-1)
    expected = recorded[f"{norm}/{case}/outputs"]
    torch.testing.assert_close(outputs, expected, atol=TOLERANCE, rtol=0)
    prefix = f"{norm}/{case}/final/"
    final = {k.removeprefix(prefix): v for k, v in recorded.items() if k.startswith(prefix)}
    if adapter.learns:
        assert final.keys() == adapter.params.keys()
    for name, param in adapter.params.items():
        torch.testing.assert_close(param.detach(), final[name], atol=TOLERANCE, rtol=0)
