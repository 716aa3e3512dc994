"""The baselines compute what their public reference implementations compute."""

from functools import cache
from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import Tensor

from reference import nets
from trimtab import Adapter, adapt

TOLERANCE = 1e-4
BATCH_NORM, ALL = ("bn",), ("bn", "gn", "ln")


@cache
def recorded() -> dict[str, Tensor]:
    return safetensors.torch.load_file(Path(__file__).parent / "golden.safetensors")


def source_batches() -> tuple[Tensor, ...]:
    return (recorded()["source_x"].float() / 255).split(16)


def flipped(images: Tensor) -> Tensor:
    return images.flip(-1)


CASES: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
    "source": ("source", {}, ALL),
    "bn1": ("bn1", {}, BATCH_NORM),
    "bn_alpha": ("bn_alpha", {}, BATCH_NORM),
    "bn_ema": ("bn_ema", {}, BATCH_NORM),
    "tent": ("tent", {}, ALL),
    "rpl": ("rpl", {}, ALL),
    "eata/eta": ("eta", {}, ALL),
    "eata/eata": ("eata", {"source_data": "source", "fisher_weight": 500_000.0}, ALL),
    "sar": ("sar", {}, ALL),
    "deyo": ("deyo", {"destruction": "occlusion"}, ALL),
    "cmf": ("cmf", {"augment": flipped}, ALL),
    "lame": ("lame", {}, ALL),
}
"""By recorded case: the method, its options, and the nets it was recorded on."""


def run(norm: str, case: str) -> tuple[Adapter, Tensor]:
    """The stream after six batches, and what it returned for each."""
    method, options, _ = CASES[case]
    if "source_data" in options:
        options = {**options, "source_data": source_batches()}
    adapter = adapt(nets.trained(norm, recorded()), method, **options)  # type: ignore[arg-type]
    return adapter, torch.stack([adapter(batch) for batch in nets.images(recorded())])


@pytest.mark.parametrize(
    ("norm", "case"), [(norm, case) for case, (_, _, norms) in CASES.items() for norm in norms]
)
def test_outputs_and_final_parameters_equal_the_recorded_ones(norm: str, case: str) -> None:
    adapter, outputs = run(norm, case)
    if case == "lame":  # the reference returns probabilities
        outputs = outputs.softmax(-1)
    torch.testing.assert_close(
        outputs, recorded()[f"{norm}/{case}/outputs"], atol=TOLERANCE, rtol=0
    )
    prefix = f"{norm}/{case}/final/"
    final = {k.removeprefix(prefix): v for k, v in recorded().items() if k.startswith(prefix)}
    if adapter.learns:
        assert set(final) == set(adapter.params)
    for name, param in adapter.params.items():
        torch.testing.assert_close(param.detach(), final[name], atol=TOLERANCE, rtol=0)
