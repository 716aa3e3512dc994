"""U-Net for semantic segmentation (Ronneberger et al., 2015, arXiv:1505.04597), at a small size.

Three poolings down, three doublings up; on the way up each step sees the finer maps of the way
down beside its own.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from trimtab.models.norm_layers import NORM_LAYERS, NormLayer


class UNet(nn.Module):
    """Logits (batch, classes, height, width) for images (batch, 3, height, width).

    Args:
        width: Channels at full size; twice and four times as many below, where they stay.
    """

    def __init__(self, *, num_classes: int = 11, width: int = 12, norm: str = "batch") -> None:
        super().__init__()
        make_norm = NORM_LAYERS[norm]
        wide = [width, 2 * width, 4 * width, 4 * width]
        self.down = nn.ModuleList(
            nn.Sequential(
                _convolution(inside, outside, make_norm), _convolution(outside, outside, make_norm)
            )
            for inside, outside in zip([3, *wide[:-1]], wide, strict=True)
        )
        self.narrow = nn.ModuleList(nn.Conv2d(wide[n + 1], wide[n], 1) for n in range(3))
        self.up = nn.ModuleList(_convolution(2 * wide[n], wide[n], make_norm) for n in range(3))
        self.classify = nn.Conv2d(width, num_classes, 1)

    def forward(self, inputs: Tensor) -> Tensor:
        hidden, finer = inputs, list[Tensor]()
        for number, stage in enumerate(self.down):
            hidden = stage(functional.max_pool2d(hidden, 2) if number else hidden)
            finer.append(hidden)
        for narrow, join, skip in zip(
            reversed(self.narrow), reversed(self.up), finer[-2::-1], strict=True
        ):
            # narrowed before it is enlarged: a convolution of 1 x 1 does not mind the order
            hidden = functional.interpolate(narrow(hidden), skip.shape[-2:], mode="bilinear")
            hidden = join(torch.cat([skip, hidden], 1))
        return self.classify(hidden)  # type: ignore[no-any-return]


def _convolution(inside: int, outside: int, norm: NormLayer) -> nn.Sequential:
    convolution = nn.Conv2d(inside, outside, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
    return nn.Sequential(convolution, norm(outside), nn.ReLU())
