"""CIFAR wide ResNets (Zagoruyko and Komodakis, BMVC 2016, arXiv:1605.07146).

Pre-activation blocks in three stages. The state dict's names are those of RobustBench's
``Standard`` (WRN-28-10): ``conv1``, ``block1.layer.0.bn1``, ``block1.layer.0.conv1``, ...,
``block1.layer.0.convShortcut``, ``bn1``, ``fc``. AugMix's WRN-40-2 spells ``conv_shortcut``.
"""

from torch import Tensor, nn
from torch.nn import functional

RENAMES = ((r"\.conv_shortcut\.", ".convShortcut."),)


class WideBlock(nn.Module):
    """Two 3x3 convolutions, each behind its batch norm and ReLU."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inside)
        self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.convShortcut = (
            None if inside == outside else nn.Conv2d(inside, outside, 1, stride=stride, bias=False)
        )

    def forward(self, inputs: Tensor) -> Tensor:
        active = functional.relu(self.bn1(inputs))
        # A projection starts from the activated input, an identity from the raw one.
        shortcut = inputs if self.convShortcut is None else self.convShortcut(active)
        hidden = functional.relu(self.bn2(self.conv1(active)))
        return self.conv2(hidden) + shortcut  # type: ignore[no-any-return]


class WideStage(nn.Module):
    """``blocks`` blocks, the first of which changes width and resolution."""

    def __init__(self, blocks: int, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        first = WideBlock(inside, outside, stride)
        self.layer = nn.Sequential(
            first, *(WideBlock(outside, outside, 1) for _ in range(blocks - 1))
        )

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs)  # type: ignore[no-any-return]


class WideResNet(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32); ``depth`` is 4 more than 6 n."""

    def __init__(self, depth: int, widen: int, num_classes: int) -> None:
        super().__init__()
        blocks = (depth - 4) // 6
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        self.block1 = WideStage(blocks, 16, 16 * widen, 1)
        self.block2 = WideStage(blocks, 16 * widen, 32 * widen, 2)
        self.block3 = WideStage(blocks, 32 * widen, 64 * widen, 2)
        self.bn1 = nn.BatchNorm2d(64 * widen)
        self.fc = nn.Linear(64 * widen, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.block3(self.block2(self.block1(self.conv1(inputs))))
        hidden = functional.relu(self.bn1(hidden))
        return self.fc(hidden.mean(dim=(2, 3)))  # type: ignore[no-any-return]
