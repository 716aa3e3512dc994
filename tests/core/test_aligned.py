"""Blocks' embeddings are read and mapped inside of a network."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from core.test_prompted import IMAGES, transformer


def embeddings(model: nn.Module, blocks: list[nn.Module]) -> list[Tensor]:
    """What comes out of each block, (batch, places, width), seen by hooks."""
    seen: list[Tensor] = []
    handles = [block.register_forward_hook(lambda _, __, out: seen.append(out)) for block in blocks]
    with torch.no_grad():
        model(IMAGES)
    for handle in handles:
        handle.remove()
    return [out if out.dim() == 3 else out.flatten(2).transpose(1, 2) for out in seen]


def test_reading_gives_the_moments_of_each_block() -> None:
    model = transformer()
    expected = embeddings(model, [*model.layers])
    wrapped = trimtab.aligned(model)
    with torch.no_grad():
        read = trimtab.Backbone(wrapped)(IMAGES, {"reading": torch.ones(())}).logits
    for moments, tokens in zip(wrapped.moments(read), expected, strict=True):
        flat = tokens.flatten(0, 1)
        torch.testing.assert_close(moments.mean, flat.mean(0))
        torch.testing.assert_close(
            moments.covariance, flat.T.cov(correction=0), atol=1e-5, rtol=1e-4
        )


def test_a_map_is_applied_behind_its_block_and_seen_by_the_next() -> None:
    matrix, shift = torch.randn(16, 16), torch.randn(16)
    wrapped = trimtab.Backbone(trimtab.aligned(transformer()))
    with torch.no_grad():
        found = wrapped(IMAGES, {"matrices.1": matrix, "shifts.1": shift}).logits
    model = transformer()
    model.layers[1].register_forward_hook(lambda _, __, out: out @ matrix + shift)
    torch.testing.assert_close(found, model(IMAGES).detach())


def test_channels_of_images_are_mapped_too() -> None:
    torch.manual_seed(0)
    stages = [
        nn.Sequential(
            nn.Conv2d(a, a, 3), nn.GroupNorm(1, a), nn.Conv2d(a, b, 3), nn.GroupNorm(1, b)
        )
        for a, b in ((3, 6), (6, 5))
    ]
    model = nn.Sequential(*stages, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(5, 3))
    matrix, shift = torch.randn(6, 6), torch.randn(6)
    wrapped = trimtab.aligned(model)
    assert wrapped.widths == [6, 5]
    with torch.no_grad():
        found = trimtab.Backbone(wrapped)(IMAGES, {"matrices.0": matrix, "shifts.0": shift}).logits
        first = torch.einsum("bchw,cd->bdhw", model[0](IMAGES), matrix) + shift[:, None, None]
        torch.testing.assert_close(found, model[2:](model[1](first)))


def test_without_maps_the_network_is_what_it_was() -> None:
    model = transformer()
    expected = model(IMAGES)
    torch.testing.assert_close(trimtab.aligned(model)(IMAGES), expected, atol=0, rtol=0)


def test_what_has_no_blocks_is_refused() -> None:
    with pytest.raises(ValueError, match="Sequential has no row of blocks with norm layers"):
        trimtab.aligned(nn.Sequential(nn.Flatten(), nn.Linear(12, 3)))
