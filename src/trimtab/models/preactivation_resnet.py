"""The pre-activation CIFAR ResNet-26 with group norm of MEMO (Zhang et al., arXiv:2110.09506).

The names: ``conv1``, ``layer1.0.bn1``, ``layer1.0.conv1``, ``layer1.0.bn2``, ``layer1.0.conv2``,
..., ``bn``, ``fc``; shortcuts have no weights.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from trimtab.models.norm_layers import group_norm


class PoolShortcut(nn.Module):
    """Halves the image by averaging, doubles the channels with zeros."""

    def forward(self, inputs: Tensor) -> Tensor:
        pooled = functional.avg_pool2d(inputs, 2)
        return torch.cat((pooled, torch.zeros_like(pooled)), dim=1)


class PreActivationBlock(nn.Module):
    """Two 3x3 convolutions, each behind its group norm and ReLU."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.bn1 = group_norm(inside)
        self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
        self.bn2 = group_norm(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.shortcut = nn.Identity() if stride == 1 else PoolShortcut()

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.conv1(functional.relu(self.bn1(inputs)))
        hidden = self.conv2(functional.relu(self.bn2(hidden)))
        return self.shortcut(inputs) + hidden  # type: ignore[no-any-return]


class PreActivationResNet26(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32): three stages of four blocks."""

    layer1: nn.Sequential
    layer2: nn.Sequential
    layer3: nn.Sequential

    def __init__(self, num_classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1, bias=False)
        inside = 16
        for number, stride in enumerate((1, 2, 2), start=1):
            outside = 16 * 2 ** (number - 1)
            stage = [PreActivationBlock(inside, outside, stride)]
            stage += [PreActivationBlock(outside, outside, 1) for _ in range(3)]
            setattr(self, f"layer{number}", nn.Sequential(*stage))
            inside = outside
        self.bn = group_norm(inside)
        self.fc = nn.Linear(inside, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = self.layer3(self.layer2(self.layer1(self.conv1(inputs))))
        hidden = functional.relu(self.bn(hidden))
        return self.fc(hidden.mean(dim=(2, 3)))  # type: ignore[no-any-return]
