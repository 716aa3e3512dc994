"""The small networks whose weights this project trains and ships, by name."""

from collections.abc import Callable
from functools import partial

from torch import nn

from trimtab.models.compact_transformer import CompactTransformer
from trimtab.models.resnet import ResNet

TINY: dict[str, Callable[..., nn.Module]] = {
    "cifar10_resnet20_bn": partial(ResNet, 3),
    "cifar10_resnet20_gn": partial(ResNet, 3, norm="group"),
    "cifar10_vit": CompactTransformer,
    "fashion_resnet20_bn": partial(ResNet, 3, width=8),
    "fashion_resnet20_gn": partial(ResNet, 3, width=8, norm="group"),
    "fashion_vit": partial(CompactTransformer, width=64, depth=4),
}
"""Architectures without their normalisation; each takes ``num_classes``."""

Triple = tuple[float, float, float]

NORMALIZATION: dict[str, tuple[Triple, Triple]] = {
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "fashion": ((0.2190, 0.2190, 0.2190), (0.3318, 0.3318, 0.3318)),
}
"""Mean and standard deviation of the training images, by the first word of the name."""
