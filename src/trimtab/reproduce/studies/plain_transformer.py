"""Vision transformers with random weights: for measurements that do not depend on the weights."""

import torch
from torch import Tensor, nn

PATCH = 16


class PlainTransformer(nn.Module):
    """Logits (batch, 1000) for images (batch, 3, 224, 224), through patches of 16 px."""

    def __init__(self, depth: int, width: int, side: int = 224) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, PATCH, PATCH)
        self.positions = nn.Parameter(torch.randn((side // PATCH) ** 2 + 1, width) * 0.02)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        layer = nn.TransformerEncoderLayer(
            width, width // 64, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.patches(images).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.token.expand(len(images), -1, -1), tokens], 1)
        tokens = self.norm(self.blocks(tokens + self.positions))
        return self.head(tokens[:, 0])  # type: ignore[no-any-return]


def slim() -> nn.Module:
    """As deep as a ViT-B/16 and a sixth as wide: an update takes seconds."""
    return PlainTransformer(depth=12, width=128)
