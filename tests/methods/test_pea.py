"""Embeddings are mapped to the source's moments without a backward pass."""

import pytest
import torch
from torch import Tensor

import trimtab
from core.test_prompted import IMAGES, transformer
from trimtab.core.aligned import Moments
from trimtab.methods.pea import MEMORY, EmbeddingAlignment, alignment, pea, shares
from trimtab.testing import check_method

SOURCE_IMAGES = torch.rand(24, 3, 32, 32, generator=torch.Generator().manual_seed(3))


def cloud(seed: int, width: int = 6) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    mixing = torch.randn(width, width, generator=generator, dtype=torch.float64)
    samples = torch.randn(4000, width, generator=generator, dtype=torch.float64)
    return samples @ mixing + torch.randn(width, generator=generator, dtype=torch.float64)


def moments(points: Tensor) -> Moments:
    return Moments(points.mean(0), points.T @ points / len(points))


def test_a_full_alignment_has_the_sources_mean_and_covariance() -> None:
    stream, source = cloud(0), cloud(1)
    matrix, shift = alignment(moments(stream), moments(source), 1.0)
    mapped = moments(stream @ matrix + shift)
    torch.testing.assert_close(mapped.mean, source.mean(0))
    size = moments(source).covariance.norm()
    assert (mapped.covariance - moments(source).covariance).norm() / size < 0.1


@pytest.mark.parametrize("weight", [0.0, 0.3])
def test_a_weight_mixes_embeddings_with_aligned_ones(weight: float) -> None:
    stream, source = cloud(0), cloud(1)
    full, full_shift = alignment(moments(stream), moments(source), 1.0)
    matrix, shift = alignment(moments(stream), moments(source), weight)
    expected = (1 - weight) * stream + weight * (stream @ full + full_shift)
    torch.testing.assert_close(stream @ matrix + shift, expected)


def test_the_block_that_has_moved_most_is_mapped_most() -> None:
    assert shares([3.0, 1.0, 2.0]) == [1.0, 0.0, 0.5]
    assert shares([2.0, 2.0]) == [0.0, 0.0]


def test_a_stream_follows_moments_and_maps_by_them() -> None:
    wrapped = trimtab.aligned(transformer())
    backbone = trimtab.Backbone(wrapped)
    method = trimtab.Method((), learner=EmbeddingAlignment(source_data=[SOURCE_IMAGES]))
    adapter, shifted = trimtab.adapt(backbone, method), (IMAGES * 0.3 + 0.6)
    ask = {"reading": torch.ones(())}
    with torch.no_grad():
        source = wrapped.moments(backbone(SOURCE_IMAGES, ask).logits)
        seen = wrapped.moments(backbone(shifted, ask).logits)  # nothing is mapped yet
        share = 6 / 22  # six samples beside the sixteen for which the source counts
        now = [
            Moments(a.mean.lerp(b.mean, share), a.square.lerp(b.square, share))
            for a, b in zip(source, seen, strict=True)
        ]
        moved = []
        for a, b in zip(now, source, strict=True):
            variance = b.covariance.diagonal()
            means = (a.mean - b.mean).abs() / variance.sqrt()
            moved.append(
                float((means + (a.covariance.diagonal() - variance).abs() / variance).mean())
            )
        maps = {}
        for n, (a, b, weight) in enumerate(zip(now, source, shares(moved), strict=True)):
            maps[f"matrices.{n}"], maps[f"shifts.{n}"] = alignment(a, b, weight)
        expected = backbone(shifted, maps).logits
    torch.testing.assert_close(adapter(shifted), expected, atol=1e-4, rtol=1e-4)
    assert float(adapter.memory[MEMORY]["samples"]) == 22
    assert adapter.counters.forward_samples == 24 + 2 * 6


def test_blocks_without_source_data_are_refused() -> None:
    with pytest.raises(ValueError, match="pea needs source_data="):
        trimtab.adapt(trimtab.aligned(transformer()), "pea")(IMAGES)


@pytest.mark.slow
def test_it_keeps_the_contract_with_blocks() -> None:
    images = torch.rand(80, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    model = trimtab.aligned(transformer())
    check_method(pea, models=[model], images=images, source_data=[SOURCE_IMAGES])
