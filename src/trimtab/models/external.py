"""Networks that are not in the table: any of timm's, and any callable of the user's."""

import difflib
import importlib
from functools import partial
from typing import Any

from torch import nn

from trimtab.models.entry import ModelEntry, Preprocessing
from trimtab.models.missing_operators import import_torchvision

TIMM = "timm/"


def timm_entry(name: str) -> ModelEntry:
    """What timm says about ``timm/NAME``: its preset for evaluation, and where weights are."""
    timm = _import_timm()
    bare = name.removeprefix(TIMM)
    if not timm.is_model(bare.split(".")[0]):
        near = ", ".join(difflib.get_close_matches(bare, timm.list_models())) or "none"
        raise ValueError(f"timm has no model {bare!r}; names that are near: {near}")
    config = timm.get_pretrained_cfg(bare, allow_unregistered=False)
    size = config.input_size[-1]
    return ModelEntry(
        name,
        partial(_make_timm, bare),
        f"timm {bare}",
        "as timm has it",
        Preprocessing(
            size, config.mean, config.std, int(size / config.crop_pct), config.interpolation
        ),
        dataset="imagenet" if config.num_classes == 1000 else "as timm has it",
        num_classes=config.num_classes,
        clean_accuracy=None,
        origin=f"timm ({config.hf_hub_id or config.url or 'no weights'})",
    )


def make_pretrained_timm(entry: ModelEntry) -> nn.Module:
    """The network with timm's own weights, from its cache or its hub."""
    bare = entry.name.removeprefix(TIMM)
    try:
        model: nn.Module = _import_timm().create_model(bare, pretrained=True)
    except Exception as error:  # the hub's clients raise many kinds; each means the same here
        raise OSError(
            f"the weights of {entry.name} were looked for at {entry.origin} and not found "
            f"({type(error).__name__}: {error}); give a local file with weights="
        ) from error
    return model


def adopted(name: str, make: Any) -> ModelEntry:
    """The network that a plug-in returns when it is called, with ``num_classes`` where known."""
    if isinstance(make, ModelEntry):
        return make
    if not callable(make):
        raise ValueError(f"{name} must be a callable that returns a network, got {make!r}")
    return ModelEntry(
        name,
        lambda num_classes: _call(name, make, num_classes),
        name,
        "unknown",
        Preprocessing(None),
        dataset="unknown",
        num_classes=0,
        clean_accuracy=None,
        origin=f"whatever {name} returns",
        brings_weights=True,
    )


def _call(name: str, make: Any, num_classes: int) -> nn.Module:
    model = make(num_classes=num_classes) if num_classes else make()
    if not isinstance(model, nn.Module):
        raise ValueError(f"{name} must return a torch module, got a {type(model).__name__}")
    return model


def _make_timm(bare: str, num_classes: int) -> nn.Module:
    model: nn.Module = _import_timm().create_model(bare, pretrained=False, num_classes=num_classes)
    return model


def _import_timm() -> Any:
    import_torchvision()
    try:
        return importlib.import_module("timm")
    except ModuleNotFoundError as error:
        if error.name != "timm":
            raise
        raise ImportError(
            "this network needs timm; install it with: pip install 'trimtab[vision]'"
        ) from error
