"""The norm layers that a network of this package can be built with, by name."""

import math
from collections.abc import Callable

from torch import nn

NormLayer = Callable[[int], nn.Module]
"""Makes the norm layer for a number of channels."""

GROUPS = 8


def group_norm(channels: int) -> nn.Module:
    """Group norm with eight groups, as the group-norm ResNets of the field have, or with as many
    of them as divide the channels."""
    return nn.GroupNorm(math.gcd(GROUPS, channels), channels)


NORM_LAYERS: dict[str, NormLayer] = {"batch": nn.BatchNorm2d, "group": group_norm}
