"""A domain that comes back finds the parameters that were learned in it."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

import trimtab
from reference import nets
from trimtab.methods.reservoir import MEMORY, Reservoir

ORDER = "aabbaacbbc"
"""Domains of a stream's batches."""


def domains(images: Tensor) -> dict[str, Tensor]:
    """Smooth, noisy and striped images."""
    smooth = avg_pool2d(images, 5, stride=1, padding=2)
    stripes = torch.arange(images.shape[-1]).remainder(4).sub(1.5).div(3)
    return {"a": smooth, "b": images, "c": (smooth + stripes) / 2}


def batches(images: Tensor) -> list[tuple[str, Tensor]]:
    parts = {domain: shown.split(16) for domain, shown in domains(images).items()}
    return [(domain, parts[domain][number % 6]) for number, domain in enumerate(ORDER)]


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_it_is_a_stream_for_each_domain_that_starts_where_the_last_one_stands(
    optimizer: str, model: nets.Net, images: Tensor
) -> None:
    plain = trimtab.build("tent", lr=0.05, optimizer=optimizer)
    method = replace(plain, learner=Reservoir(apart=3.0))
    found = trimtab.adapt(model, method)
    present, streams = trimtab.adapt(model, plain), {}  # type: ignore[var-annotated]
    for domain, batch in batches(images):
        streams.setdefault(domain, present if not streams else present.clone())
        present = streams[domain]
        torch.testing.assert_close(found(batch), present(batch))
    assert int(found.memory[MEMORY]["used"]) == len(streams) == 3


def test_without_room_the_nearest_set_serves(model: nets.Net, images: Tensor) -> None:
    method = replace(trimtab.build("tent"), learner=Reservoir(sets=1))
    plain, one = trimtab.adapt(model, "tent"), trimtab.adapt(model, method)
    for _, batch in batches(images):
        torch.testing.assert_close(one(batch), plain(batch))


def test_single_samples_are_told_by_those_before_them(model: nets.Net, images: Tensor) -> None:
    smooth, noisy = domains(images)["a"], domains(images)["b"]
    adapter = trimtab.adapt(model, "reservoir", apart=1.5, window=8)
    for part in (smooth[:40], noisy[:40], smooth[40:80]):
        for sample in part.split(1):
            adapter(sample)
    memory = adapter.memory[MEMORY]
    assert int(memory["present"]) == 0
    assert int(memory["used"]) == 2


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="sets must be at least 1, got 0"):
        Reservoir(sets=0)
    with pytest.raises(ValueError, match="apart must be positive, got 0"):
        Reservoir(apart=0)
