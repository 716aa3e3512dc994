"""The 31 ImageNet networks of the ROID paper, as torchvision has them."""

import importlib
from functools import partial
from typing import Any, NamedTuple

from torch import nn

from trimtab.models.entry import ModelEntry, Preprocessing
from trimtab.models.missing_operators import import_torchvision

ADDRESS = "https://download.pytorch.org/models/"
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Preset(NamedTuple):
    """Top-1 accuracy in percent, weight file, norm layers, and the sizes of the preset in px."""

    accuracy: float
    file: str
    norm_layers: str = "batch norm"
    resize: int = 256
    crop: int = 224
    interpolation: str = "bilinear"


PRESETS = {
    "googlenet": Preset(69.778, "googlenet-1378be20.pth"),
    "inception_v3": Preset(
        77.294, "inception_v3_google-0cc3c7bd.pth", "batch norm", resize=342, crop=299
    ),
    "resnet18": Preset(69.758, "resnet18-f37072fd.pth"),
    "resnet50": Preset(76.130, "resnet50-0676ba61.pth"),
    "resnet101": Preset(77.374, "resnet101-63fe2227.pth"),
    "resnet152": Preset(78.312, "resnet152-394f9c45.pth"),
    "resnext50_32x4d": Preset(77.618, "resnext50_32x4d-7cdf4587.pth"),
    "resnext101_32x8d": Preset(79.312, "resnext101_32x8d-8ba56ff5.pth"),
    "wide_resnet50_2": Preset(78.468, "wide_resnet50_2-95faca4d.pth"),
    "wide_resnet101_2": Preset(78.848, "wide_resnet101_2-32ee1156.pth"),
    "densenet121": Preset(74.434, "densenet121-a639ec97.pth"),
    "densenet169": Preset(75.600, "densenet169-b2777c0a.pth"),
    "densenet201": Preset(76.896, "densenet201-c1103571.pth"),
    "regnet_y_8gf": Preset(80.032, "regnet_y_8gf-d0d0e4a8.pth"),
    "regnet_y_32gf": Preset(80.878, "regnet_y_32gf-4dee3f7a.pth"),
    "mobilenet_v2": Preset(71.878, "mobilenet_v2-b0353104.pth"),
    "mobilenet_v3_small": Preset(67.668, "mobilenet_v3_small-047dcff4.pth"),
    "mobilenet_v3_large": Preset(74.042, "mobilenet_v3_large-8738ca79.pth"),
    "regnet_x_400mf": Preset(72.834, "regnet_x_400mf-adf1edd5.pth"),
    "regnet_x_800mf": Preset(75.212, "regnet_x_800mf-ad17e45c.pth"),
    "regnet_y_400mf": Preset(74.046, "regnet_y_400mf-c65dace8.pth"),
    "regnet_y_800mf": Preset(76.420, "regnet_y_800mf-1b27b58c.pth"),
    "swin_t": Preset(81.474, "swin_t-704ceda3.pth", "layer norm", 232, 224, "bicubic"),
    "swin_s": Preset(83.196, "swin_s-5e29d889.pth", "layer norm", 246, 224, "bicubic"),
    "swin_b": Preset(83.582, "swin_b-68c6b09e.pth", "layer norm", 238, 224, "bicubic"),
    "swin_v2_t": Preset(82.072, "swin_v2_t-b137f0e2.pth", "layer norm", 260, 256, "bicubic"),
    "swin_v2_s": Preset(83.712, "swin_v2_s-637d8ceb.pth", "layer norm", 260, 256, "bicubic"),
    "swin_v2_b": Preset(84.112, "swin_v2_b-781e5279.pth", "layer norm", 272, 256, "bicubic"),
    "vit_b_16": Preset(81.072, "vit_b_16-c867db91.pth", "layer norm"),
    "vit_b_32": Preset(75.912, "vit_b_32-d86f8d99.pth", "layer norm"),
    "maxvit_t": Preset(
        83.700, "maxvit_t-bc5ab103.pth", "batch norm, layer norm", 224, 224, "bicubic"
    ),
}
"""What torchvision states for the weights ``IMAGENET1K_V1`` of each network."""

AUXILIARY_HEADS = {
    "googlenet": ("aux1.", "aux2."),
    "inception_v3": ("AuxLogits.",),
}
"""Heads that only serve training: in the files, not in the networks that are built here."""


def make(name: str, num_classes: int) -> nn.Module:
    """The bare torchvision network with random weights."""
    networks = importlib.import_module(f"{import_torchvision().__name__}.models")
    options: dict[str, Any] = {}
    if name in AUXILIARY_HEADS:
        # transform_input: both were trained on another normalisation and convert by themselves.
        options = {"aux_logits": False, "init_weights": False, "transform_input": True}
    model: nn.Module = networks.get_model(name, weights=None, num_classes=num_classes, **options)
    return model


def _entry(name: str, preset: Preset) -> ModelEntry:
    sizes = Preprocessing(preset.crop, MEAN, STD, preset.resize, preset.interpolation)
    return ModelEntry(
        name,
        partial(make, name),
        f"torchvision {name}",
        preset.norm_layers,
        sizes,
        dataset="imagenet",
        num_classes=1000,
        clean_accuracy=preset.accuracy,
        origin="torchvision, IMAGENET1K_V1",
        sha256=preset.file.rsplit("-", 1)[1].removesuffix(".pth"),
        url=ADDRESS + preset.file,
        left_out=AUXILIARY_HEADS.get(name, ()),
    )


TORCHVISION = {name: _entry(name, preset) for name, preset in PRESETS.items()}
