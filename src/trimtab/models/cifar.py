"""The CIFAR networks of the papers; their weights are the user's own files."""

from functools import partial

from trimtab.models.entry import ModelEntry, Preprocessing
from trimtab.models.preactivation_resnet import PreActivationResNet26
from trimtab.models.resnet import ResNet
from trimtab.models.resnext import ResNeXt29
from trimtab.models.wide_resnet import RENAMES, WideResNet

HALVES = (0.5, 0.5, 0.5)
AS_IT_IS = Preprocessing(32)
HALVED = Preprocessing(32, HALVES, HALVES)
OTHER_HEAD = ((r"^fc\.", "linear."),)


def _resnet(depth: int, projection: bool) -> ModelEntry:
    kind = "projection shortcuts" if projection else "zero-padded shortcuts"
    blocks = (depth - 2) // 6
    return ModelEntry(
        f"cifar_resnet{depth}" + ("_projection" if projection else ""),
        lambda num_classes: ResNet(blocks, num_classes=num_classes, projection=projection),
        f"CIFAR ResNet-{depth}, width 16, {kind}",
        "batch norm",
        AS_IT_IS,
        dataset="cifar10",
        num_classes=10,
        clean_accuracy=None,
        origin="a file of yours; state its normalisation with normalization=(mean, std)",
        renames=OTHER_HEAD,
    )


_PAPERS = (
    ModelEntry(
        "wrn28_10",
        partial(WideResNet, 28, 10),
        "CIFAR WideResNet-28-10",
        "batch norm",
        AS_IT_IS,
        dataset="cifar10",
        num_classes=10,
        clean_accuracy=94.78,
        origin="RobustBench, cifar10/corruptions/Standard.pt",
        renames=RENAMES,
    ),
    ModelEntry(
        "wrn40_2",
        partial(WideResNet, 40, 2),
        "CIFAR WideResNet-40-2",
        "batch norm",
        HALVED,
        dataset="cifar10",
        num_classes=10,
        clean_accuracy=95.08,
        origin="RobustBench, cifar10/corruptions/Hendrycks2020AugMix_WRN.pt",
        renames=RENAMES,
    ),
    ModelEntry(
        "resnext29_4x32d",
        ResNeXt29,
        "CIFAR ResNeXt-29 4x32d",
        "batch norm",
        HALVED,
        dataset="cifar100",
        num_classes=100,
        clean_accuracy=78.90,
        origin="RobustBench, cifar100/corruptions/Hendrycks2020AugMix_ResNeXt.pt",
    ),
    ModelEntry(
        "resnet26_gn",
        PreActivationResNet26,
        "CIFAR ResNet-26, pre-activation",
        "group norm",
        HALVED,
        dataset="cifar10",
        num_classes=10,
        clean_accuracy=None,
        origin="MEMO's resnet26_gn.pth",
    ),
)

_RESNETS = tuple(
    _resnet(depth, projection) for depth in (20, 32, 44, 56, 110) for projection in (False, True)
)

CIFAR = {entry.name: entry for entry in (*_PAPERS, *_RESNETS)}
