"""A small vision transformer with a convolutional tokenizer (after arXiv:2104.05704).

Its only norm layers are LayerNorms, so it has no statistics that a stream could shift: the
small sibling of the ViTs that test-time adaptation is measured on.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


class SelfAttention(nn.Module):
    """Multi-head self-attention over tokens (batch, tokens, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, count, width = tokens.shape
        qkv = self.qkv(tokens).view(batch, count, 3, self.heads, width // self.heads)
        query, key, value = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return self.out(mixed.transpose(1, 2).reshape(batch, count, width))  # type: ignore[no-any-return]


class EncoderLayer(nn.Module):
    """Attention and a two-layer perceptron, each behind a LayerNorm and a shortcut."""

    def __init__(self, width: int, heads: int, expansion: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = SelfAttention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, expansion * width), nn.GELU(), nn.Linear(expansion * width, width)
        )

    def forward(self, tokens: Tensor) -> Tensor:
        tokens = tokens + self.attention(self.norm1(tokens))
        return tokens + self.perceptron(self.norm2(tokens))  # type: ignore[no-any-return]


class CompactTransformer(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32), through 64 tokens of 4x4 px."""

    def __init__(
        self,
        *,
        num_classes: int = 10,
        width: int = 128,
        depth: int = 4,
        heads: int = 4,
        expansion: int = 2,
    ) -> None:
        super().__init__()
        self.tokenizer = nn.Sequential(
            nn.Conv2d(3, width // 4, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(width // 4, width // 2, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width // 2, width, 3, stride=2, padding=1),
            nn.ReLU(),
        )
        self.position = nn.Parameter(torch.zeros(1, 64, width))
        nn.init.trunc_normal_(self.position, std=0.02)
        self.layers = nn.Sequential(*(EncoderLayer(width, heads, expansion) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.pool = nn.Linear(width, 1)
        self.head = nn.Linear(width, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        tokens = self.tokenizer(inputs).flatten(2).transpose(1, 2) + self.position
        tokens = self.norm(self.layers(tokens))
        share = self.pool(tokens).softmax(dim=1)
        return self.head((share * tokens).sum(dim=1))  # type: ignore[no-any-return]
