"""Convolutional network with LayerNorm over channels, after ConvNeXt (arXiv:2201.03545).

Its convolutions mix pixels as a ResNet's do, and it has no batch statistics, as a transformer.
"""

from torch import Tensor, nn


class ChannelLayerNorm(nn.Module):
    """LayerNorm over the channels of each pixel, for maps (batch, channels, rows, columns)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(channels)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.norm(inputs.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)  # type: ignore[no-any-return]


class DepthwiseBlock(nn.Module):
    """Depthwise convolution, LayerNorm and a two-layer perceptron per pixel, around a shortcut."""

    def __init__(self, width: int, expansion: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.norm = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(
            nn.Linear(width, expansion * width), nn.GELU(), nn.Linear(expansion * width, width)
        )

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.norm(self.depthwise(inputs).permute(0, 2, 3, 1))
        return inputs + self.perceptron(hidden).permute(0, 3, 1, 2)  # type: ignore[no-any-return]


class LayerNormConvNet(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32).

    A strided stem leads to 16 px. ``blocks`` states the number of blocks of two stages: one of
    ``width`` channels at 16 px, one of ``2 * width`` channels at 8 px.
    """

    def __init__(
        self,
        *,
        num_classes: int = 10,
        width: int = 36,
        blocks: tuple[int, int] = (2, 3),
        expansion: int = 2,
    ) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 3, stride=2, padding=1), ChannelLayerNorm(width)
        )
        self.stage1 = nn.Sequential(*(DepthwiseBlock(width, expansion) for _ in range(blocks[0])))
        self.downsample = nn.Sequential(
            ChannelLayerNorm(width), nn.Conv2d(width, 2 * width, 2, stride=2)
        )
        self.stage2 = nn.Sequential(
            *(DepthwiseBlock(2 * width, expansion) for _ in range(blocks[1]))
        )
        self.norm = nn.LayerNorm(2 * width)
        self.head = nn.Linear(2 * width, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.stage2(self.downsample(self.stage1(self.stem(inputs))))
        return self.head(self.norm(hidden.mean(dim=(2, 3))))  # type: ignore[no-any-return]
