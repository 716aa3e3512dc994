"""Every network by its name."""

from dataclasses import replace

from trimtab.models.cifar import CIFAR
from trimtab.models.entry import ModelEntry
from trimtab.models.external import TIMM, adopted, timm_entry
from trimtab.models.masks import MASKS
from trimtab.models.tiny import TINY
from trimtab.models.torchvision_networks import TORCHVISION
from trimtab.models.validation import VALIDATION
from trimtab.registry import Registry

MODELS: Registry[ModelEntry] = Registry(
    "model",
    {**TINY, **VALIDATION, **CIFAR, **TORCHVISION},
    adopt=adopted,
    spellings=(f"{TIMM}NAME",),
)
"""A plug-in brings a ModelEntry, or a function that returns a network."""


def describe(name: str) -> ModelEntry:
    """What is known about a network: of the table, ``timm/NAME`` or ``package.module:callable``.

    With ``@imagenet_r`` or ``@imagenet_d109`` behind it, it has the classes of that dataset.
    """
    base, _, mask = name.partition("@")
    return _masked(_unmasked(base), mask) if mask else _unmasked(base)


def _unmasked(name: str) -> ModelEntry:
    return timm_entry(name) if name.startswith(TIMM) else MODELS.find(name)


def _masked(entry: ModelEntry, mask: str) -> ModelEntry:
    name = f"{entry.name}@{mask}"
    if mask not in MASKS:
        raise ValueError(f"no class mask is called {mask!r}; known: {', '.join(MASKS)}")
    if entry.num_classes != 1000:
        raise ValueError(f"{name}: the mask needs ImageNet's 1000 classes, not {entry.num_classes}")
    return replace(entry, name=name, num_classes=len(MASKS[mask]), clean_accuracy=None)
