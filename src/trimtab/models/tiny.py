"""The small networks whose weights this project trains and ships."""

from collections.abc import Callable
from functools import partial

from torch import nn

from trimtab.models.compact_transformer import CompactTransformer
from trimtab.models.entry import ModelEntry, Preprocessing, Triple
from trimtab.models.resnet import ResNet
from trimtab.models.unet import UNet

NORMALIZATION: dict[str, tuple[Triple, Triple]] = {
    "cifar10": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
    "fashion_mnist": ((0.2190, 0.2190, 0.2190), (0.3318, 0.3318, 0.3318)),
    "fashion_scenes": ((0.4745, 0.4745, 0.4745), (0.2048, 0.2048, 0.2048)),
}
"""Mean and standard deviation of the training images at 32 px."""


def trained_entry(
    name: str,
    make: Callable[..., nn.Module],
    architecture: str,
    norm_layers: str,
    clean_accuracy: float | None,
    sha256: str | None,
    *,
    dataset: str,
    only_for: str | None = None,
    side: int = 32,
    num_classes: int = 10,
    task: str | None = None,
) -> ModelEntry:
    """A network for images of ``side`` px that ``trimtab.models.train`` trained on ``dataset``."""
    return ModelEntry(
        name,
        lambda num_classes: make(num_classes=num_classes),
        architecture,
        norm_layers,
        Preprocessing(side, *NORMALIZATION[dataset]),
        dataset,
        num_classes=num_classes,
        clean_accuracy=clean_accuracy,
        origin="trained by this project: python -m trimtab.models.train",
        sha256=sha256,
        shipped=sha256 is not None,
        only_for=only_for,
        task=task,
    )


_fashion = partial(trained_entry, dataset="fashion_mnist")
_cifar10 = partial(trained_entry, dataset="cifar10")
_scenes = partial(
    trained_entry, dataset="fashion_scenes", side=56, num_classes=11, task="segmentation"
)

_ENTRIES = (
    _fashion(
        "fashion_resnet20_bn",
        partial(ResNet, 3, width=8),
        "ResNet-20, width 8",
        "batch norm",
        92.31,
        "29f2ee0fdd43386bd947cbd09f9d744de11423c787d1e4f482631e93e17c04e5",
    ),
    _fashion(
        "fashion_resnet20_gn",
        partial(ResNet, 3, width=8, norm="group"),
        "ResNet-20, width 8",
        "group norm",
        91.14,
        "6f02be7a4e8b3a3bc55795e3ac43b0571095457026de881a53cf8ace404543b9",
    ),
    _fashion(
        "fashion_vit",
        partial(CompactTransformer, width=64),
        "transformer of 4 layers, width 64",
        "layer norm",
        89.02,
        "fcea7f8244542f58beeddcde063eb4f9d2d2878723fdd811fb26db48c6c3588c",
    ),
    _scenes(
        "scenes_unet_bn",
        UNet,
        "U-Net, width 12",
        "batch norm",
        81.50,
        "3cea07218fab845bf7412ced7bef208d7e355e8882a81d935281ec54d7814a09",
    ),
    _cifar10(
        "cifar10_resnet20_bn",
        partial(ResNet, 3),
        "CIFAR ResNet-20, width 16",
        "batch norm",
        90.19,
        "7d94d2173c0eb713da393d4c0d67768c7e98df27bd32b4f498591dd27adf64f9",
    ),
    _cifar10(
        "cifar10_resnet20_gn",
        partial(ResNet, 3, norm="group"),
        "CIFAR ResNet-20, width 16",
        "group norm",
        88.12,
        "bce3e117adb099c46453e03a65d414dddcb001424d0112091c5ea526326de3ea",
    ),
    _cifar10(
        "cifar10_vit",
        CompactTransformer,
        "transformer of 4 layers, width 128",
        "layer norm",
        79.73,
        "fa90975be806a1ddbd562509a332b49a919ed6b100c5b0bee9dbe0753a032868",
    ),
)

TINY = {entry.name: entry for entry in _ENTRIES}
"""Accuracies are those of the file that is shipped, on the official 10,000 test images, or on
2,500 scenes made of them."""
