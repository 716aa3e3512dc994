"""CIFAR ResNets of 20 to 110 layers (He et al., CVPR 2016, arXiv:1512.03385, section 4.2).

Three stages of ``blocks`` basic blocks each at 32, 16 and 8 px: ``6 * blocks + 2`` layers.
The names in the state dict are those of the widely shared PyTorch checkpoints: ``conv1``,
``bn1``, ``layer1.0.conv1``, ``layer1.0.bn1``, ..., ``linear``.
"""

from torch import Tensor, nn
from torch.nn import functional

from trimtab.models.norm_layers import NORM_LAYERS, NormLayer


class PadShortcut(nn.Module):
    """Every second pixel, and zeros for the channels that are missing ("option A")."""

    def __init__(self, missing_channels: int) -> None:
        super().__init__()
        self.before = missing_channels // 2
        self.after = missing_channels - self.before

    def forward(self, inputs: Tensor) -> Tensor:
        return functional.pad(inputs[:, :, ::2, ::2], (0, 0, 0, 0, self.before, self.after))


def projection_shortcut(inside: int, outside: int, norm: NormLayer) -> nn.Module:
    """A strided 1x1 convolution with a norm layer ("option B")."""
    return nn.Sequential(nn.Conv2d(inside, outside, 1, stride=2, bias=False), norm(outside))


class BasicBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut; halves the image where ``stride`` is 2."""

    def __init__(
        self, inside: int, outside: int, stride: int, norm: NormLayer, projection: bool
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride=stride, padding=1, bias=False)
        self.bn1 = norm(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.bn2 = norm(outside)
        self.shortcut: nn.Module = nn.Identity()
        if stride == 2 and projection:
            self.shortcut = projection_shortcut(inside, outside, norm)
        elif stride == 2:
            self.shortcut = PadShortcut(outside - inside)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.relu(self.bn1(self.conv1(inputs)))
        return functional.relu(self.bn2(self.conv2(hidden)) + self.shortcut(inputs))


class ResNet(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32)."""

    layer1: nn.Sequential
    layer2: nn.Sequential
    layer3: nn.Sequential

    def __init__(
        self,
        blocks: int,
        *,
        num_classes: int = 10,
        width: int = 16,
        norm: str = "batch",
        projection: bool = False,
    ) -> None:
        super().__init__()
        make_norm = NORM_LAYERS[norm]
        self.conv1 = nn.Conv2d(3, width, 3, padding=1, bias=False)
        self.bn1 = make_norm(width)
        channels = width
        for number, stride in enumerate((1, 2, 2), start=1):
            outside = width * 2 ** (number - 1)
            stage = [BasicBlock(channels, outside, stride, make_norm, projection)]
            stage += [
                BasicBlock(outside, outside, 1, make_norm, projection) for _ in range(blocks - 1)
            ]
            setattr(self, f"layer{number}", nn.Sequential(*stage))
            channels = outside
        self.linear = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, inputs: Tensor) -> Tensor:
        hidden = functional.relu(self.bn1(self.conv1(inputs)))
        hidden = self.layer3(self.layer2(self.layer1(hidden)))
        return self.linear(hidden.mean(dim=(2, 3)))  # type: ignore[no-any-return]
