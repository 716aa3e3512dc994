"""Prompts are tokens that a transformer's blocks see, and nothing while they are zero."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from trimtab.models.compact_transformer import CompactTransformer

IMAGES = torch.rand(6, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def transformer() -> CompactTransformer:
    torch.manual_seed(0)
    return CompactTransformer(num_classes=5, width=16, depth=3, heads=2).eval()


def by_hand(model: CompactTransformer, prompts: Tensor) -> Tensor:
    """Each image's tokens, then the prompts, through all blocks; the prompts are left out after."""
    logits = []
    for image in IMAGES:
        tokens = model.tokenizer(image[None]).flatten(2).transpose(1, 2) + model.position
        tokens = model.layers(torch.cat([tokens, prompts[None]], 1))[:, : tokens.shape[1]]
        tokens = model.norm(tokens)
        share = model.pool(tokens).softmax(dim=1)
        logits.append(model.head((share * tokens).sum(dim=1)))
    return torch.cat(logits)


def test_prompts_are_seen_by_all_blocks_and_left_out_at_the_end() -> None:
    model, prompts = transformer(), torch.randn(4, 16, generator=torch.Generator().manual_seed(1))
    backbone = trimtab.Backbone(trimtab.prompted(model, 4))
    with torch.no_grad():
        found = backbone(IMAGES, {"prompts": prompts}).logits
        torch.testing.assert_close(found, by_hand(transformer(), prompts))


def test_without_prompts_the_network_is_what_it_was() -> None:
    model = transformer()
    expected = model(IMAGES)
    torch.testing.assert_close(trimtab.prompted(model)(IMAGES), expected, atol=0, rtol=0)


def test_every_method_still_works_on_it() -> None:
    adapter = trimtab.adapt(trimtab.prompted(transformer()), "tent")
    plain = trimtab.adapt(transformer(), "tent")
    for _ in range(2):
        torch.testing.assert_close(adapter(IMAGES), plain(IMAGES))


def test_what_has_no_blocks_is_refused() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(12, 3))
    with pytest.raises(ValueError, match="Sequential has no row of transformer blocks"):
        trimtab.prompted(model)
    with pytest.raises(ValueError, match="prompts must be at least 1 token"):
        trimtab.prompted(transformer(), 0)
