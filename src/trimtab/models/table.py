"""Every network by its name."""

import difflib

from trimtab.models.cifar import CIFAR
from trimtab.models.entry import ModelEntry
from trimtab.models.external import TIMM, callable_entry, timm_entry
from trimtab.models.tiny import TINY
from trimtab.models.torchvision_networks import TORCHVISION

MODELS: dict[str, ModelEntry] = {**TINY, **CIFAR, **TORCHVISION}


def describe(name: str) -> ModelEntry:
    """What is known about a network: of the table, ``timm/NAME`` or ``package.module:callable``."""
    if name in MODELS:
        return MODELS[name]
    if name.startswith(TIMM):
        return timm_entry(name)
    if ":" in name:
        return callable_entry(name)
    near = difflib.get_close_matches(name, MODELS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise ValueError(
        f"no model is called {name!r}; {hint}known: {', '.join(MODELS)}, "
        "timm/NAME and package.module:callable"
    )
