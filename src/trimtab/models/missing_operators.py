"""Lets torchvision be imported where its compiled operators do not fit the installed torch.

Importing torchvision asks torch about its operators ``nms`` and ``qnms``; a torchvision built for
another torch (a CUDA build beside a CPU torch) does not bring them, and the whole import fails,
although no classification network uses either. Declaring the two is enough. Nothing is declared
where torchvision imports as it is.
"""

import importlib
import sys
from types import ModuleType

import torch

OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)

declared: list[torch.library.Library] = []  # a library's operators live as long as it does


def import_torchvision() -> ModuleType:
    """The ``torchvision`` package, whole or with the two operators only declared."""
    try:
        return importlib.import_module("torchvision")
    except ModuleNotFoundError as error:
        if error.name != "torchvision":
            raise
        raise ImportError(
            "this network needs torchvision; install it with: pip install 'trimtab[vision]'"
        ) from error
    except RuntimeError as error:
        if "operator torchvision::nms does not exist" not in str(error):
            raise
    _forget_half_imported()
    declare_operators()
    return importlib.import_module("torchvision")


def _forget_half_imported() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]


def declare_operators() -> None:
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in OPERATORS:
        library.define(schema)
    declared.append(library)
