"""CIFAR ResNeXt-29 (Xie et al., CVPR 2017, arXiv:1611.05431), named as AugMix's checkpoints.

The names: ``conv_1_3x3``, ``bn_1``, ``stage_1.0.conv_reduce``, ``bn_reduce``, ``conv_conv``,
``bn``, ``conv_expand``, ``bn_expand``, ``downsample.0``, ``downsample.1``, ``classifier``.
"""

from torch import Tensor, nn
from torch.nn import functional

EXPANSION = 4


class GroupedBottleneck(nn.Module):
    """Narrow, convolve in ``cardinality`` groups, widen; around a shortcut."""

    def __init__(
        self, inside: int, planes: int, group_width: int, groups: int, stride: int
    ) -> None:
        super().__init__()
        narrow = planes * group_width // 64 * groups
        outside = planes * EXPANSION
        self.conv_reduce = nn.Conv2d(inside, narrow, 1, bias=False)
        self.bn_reduce = nn.BatchNorm2d(narrow)
        self.conv_conv = nn.Conv2d(
            narrow, narrow, 3, stride=stride, padding=1, groups=groups, bias=False
        )
        self.bn = nn.BatchNorm2d(narrow)
        self.conv_expand = nn.Conv2d(narrow, outside, 1, bias=False)
        self.bn_expand = nn.BatchNorm2d(outside)
        self.downsample: nn.Module = nn.Identity()
        if stride != 1 or inside != outside:
            self.downsample = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride=stride, bias=False), nn.BatchNorm2d(outside)
            )

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.relu(self.bn_reduce(self.conv_reduce(inputs)))
        hidden = functional.relu(self.bn(self.conv_conv(hidden)))
        hidden = self.bn_expand(self.conv_expand(hidden))
        return functional.relu(self.downsample(inputs) + hidden)


class ResNeXt29(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32): three stages of three blocks."""

    stage_1: nn.Sequential
    stage_2: nn.Sequential
    stage_3: nn.Sequential

    def __init__(self, num_classes: int, groups: int = 4, group_width: int = 32) -> None:
        super().__init__()
        self.conv_1_3x3 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        self.bn_1 = nn.BatchNorm2d(64)
        inside = 64
        for number, stride in enumerate((1, 2, 2), start=1):
            planes = 64 * 2 ** (number - 1)
            stage = []
            for step in (stride, 1, 1):
                stage.append(GroupedBottleneck(inside, planes, group_width, groups, step))
                inside = planes * EXPANSION
            setattr(self, f"stage_{number}", nn.Sequential(*stage))
        self.classifier = nn.Linear(inside, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.relu(self.bn_1(self.conv_1_3x3(inputs)))
        hidden = self.stage_3(self.stage_2(self.stage_1(hidden)))
        return self.classifier(hidden.mean(dim=(2, 3)))  # type: ignore[no-any-return]
