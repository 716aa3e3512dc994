"""Every network by its name."""

from dataclasses import replace

from trimtab.core.spec import unknown
from trimtab.models.cifar import CIFAR
from trimtab.models.entry import ModelEntry
from trimtab.models.external import TIMM, callable_entry, timm_entry
from trimtab.models.masks import MASKS
from trimtab.models.tiny import TINY
from trimtab.models.torchvision_networks import TORCHVISION
from trimtab.models.validation import VALIDATION

MODELS: dict[str, ModelEntry] = {**TINY, **VALIDATION, **CIFAR, **TORCHVISION}


def describe(name: str) -> ModelEntry:
    """What is known about a network: of the table, ``timm/NAME`` or ``package.module:callable``.

    With ``@imagenet_r`` or ``@imagenet_d109`` behind it, it has the classes of that dataset.
    """
    base, _, mask = name.partition("@")
    return _masked(_unmasked(base), mask) if mask else _unmasked(base)


def _unmasked(name: str) -> ModelEntry:
    if name in MODELS:
        return MODELS[name]
    if name.startswith(TIMM):
        return timm_entry(name)
    if ":" in name:
        return callable_entry(name)
    also = (*MODELS, "timm/NAME", "package.module:callable")
    raise ValueError(unknown("model", name, also))


def _masked(entry: ModelEntry, mask: str) -> ModelEntry:
    name = f"{entry.name}@{mask}"
    if mask not in MASKS:
        raise ValueError(f"no class mask is called {mask!r}; known: {', '.join(MASKS)}")
    if entry.num_classes != 1000:
        raise ValueError(f"{name}: the mask needs ImageNet's 1000 classes, not {entry.num_classes}")
    return replace(entry, name=name, num_classes=len(MASKS[mask]), clean_accuracy=None)
