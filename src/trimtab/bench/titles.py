"""Datasets, networks and scenarios as readers know them: ``Fashion-MNIST``, ``ResNet-20 (BN)``.

Nothing here needs torch. Words that are not known stay as they were typed.
"""

import re

DATA = {
    "cifar10": "CIFAR-10",
    "cifar10_c": "CIFAR-10-C",
    "cifar100_c": "CIFAR-100-C",
    "fashion_mnist": "Fashion-MNIST",
    "fashion_scenes": "Fashion scenes",
    "imagenet": "ImageNet",
    "imagenet_c": "ImageNet-C",
    "imagenet_d109": "ImageNet-D109",
    "imagenet_r": "ImageNet-R",
    "imagenet_sketch": "ImageNet-Sketch",
}

NETWORKS = {
    "cifar10_resnet20_bn": "ResNet-20 (BN)",
    "cifar10_resnet20_gn": "ResNet-20 (GN)",
    "cifar10_vit": "small ViT (LN)",
    "fashion_resnet20_bn": "ResNet-20 (BN)",
    "fashion_resnet20_gn": "ResNet-20 (GN)",
    "fashion_vit": "small ViT (LN)",
    "googlenet": "GoogLeNet",
    "inception_v3": "Inception-v3",
    "resnet26_gn": "ResNet-26 (GN)",
    "resnext29_4x32d": "ResNeXt-29",
    "resnext50_32x4d": "ResNeXt-50",
    "resnext101_32x8d": "ResNeXt-101",
    "scenes_unet_bn": "U-Net (BN)",
    "wide_resnet50_2": "Wide ResNet-50",
    "wide_resnet101_2": "Wide ResNet-101",
    "wrn28_10": "WRN-28-10",
    "wrn40_2": "WRN-40-2",
}

PATTERNS = {
    r"resnet(\d+)": r"ResNet-\1",
    r"densenet(\d+)": r"DenseNet-\1",
    r"vit_b_(\d+)": r"ViT-B/\1",
}

SCENARIOS = {
    "continual": "one domain after the other, classes in random order",
    "mixed": "all domains at once, classes in random order",
    "correlated": "one domain after the other, classes in runs",
    "mixed_correlated": "all domains at once, classes in runs",
}


def data_title(name: str) -> str:
    """A dataset: ``fashion_mnist`` is ``Fashion-MNIST``."""
    return DATA.get(name, name)


def model_title(name: str) -> str:
    """A network, with the kind of its norm layers where we named it ourselves."""
    if name in NETWORKS:
        return NETWORKS[name]
    for pattern, title in PATTERNS.items():
        found = re.fullmatch(pattern, name)
        if found:
            return found.expand(title)
    return name


def scenario_meaning(words: str) -> str:
    """A scenario in a few words; empty where it is not one of the paper's four."""
    return SCENARIOS.get(words.partition("(")[0], "")
