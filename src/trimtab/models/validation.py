"""Validation networks: CIFAR-10 nets on which constants are chosen, and which no result shows.

A constant that was chosen on the networks of a results table would flatter it. These are unlike
the nets of ``tiny``: no shortcuts, LayerNorm between convolutions, or little accuracy.
"""

from functools import partial

from trimtab.models.layer_norm_convnet import LayerNormConvNet
from trimtab.models.plain_convnet import PlainConvNet
from trimtab.models.tiny import trained_entry

CHOOSING_CONSTANTS = "choosing constants"

_entry = partial(trained_entry, dataset="cifar10", only_for=CHOOSING_CONSTANTS)

_ENTRIES = (
    _entry(
        "validation_plain_bn",
        partial(PlainConvNet, ((16,), (32, 48), (64, 64))),
        "plain net of 5 convolutions, no shortcuts",
        "batch norm",
        clean_accuracy=84.93,
        sha256="3ccac8b47cfc57ce6e2915668d9deff49429c8c9ff198a56b573eda4b5e69172",
    ),
    _entry(
        "validation_convnet_ln",
        LayerNormConvNet,
        "ConvNeXt-like net of 5 blocks, width 36",
        "layer norm",
        clean_accuracy=82.94,
        sha256="5592cb746c657c0df373056e8d465765777f43185ac126853e09a3b112479c3b",
    ),
    _entry(
        "validation_gn_weak",
        partial(PlainConvNet, ((16,), (32, 32), (48, 48)), norm="group"),
        "plain net of 5 convolutions, no shortcuts",
        "group norm",
        clean_accuracy=70.95,
        sha256="827004c0f781c71c26d541398cf277ba48d40d50e36be7ff42c68160d2cd4a63",
    ),
)

VALIDATION = {entry.name: entry for entry in _ENTRIES}
"""Accuracies are those of the file that is shipped, on the official 10,000 test images."""
