"""Takes the tensors out of a pickled module without running the code that it names."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class _StandIn(nn.Module):
    """Holds the tensors of a class whose code is not wanted."""


def tensors_of_pickled_module(path: str | Path, allow: Sequence[str]) -> dict[str, Tensor]:
    """The state dict of the module that was pickled into ``path``.

    ``allow`` lists the globals that the file may name, in full. Classes of ``torch.nn`` are
    used as they are; in place of each other name stands an empty module that only holds
    tensors. A file that names anything else is refused. Needs torch 2.6 or newer.
    """
    allowed: list[Any] = [_class_for(name) for name in allow]
    if not hasattr(torch.serialization, "get_unsafe_globals_in_checkpoint"):
        raise ImportError(
            f"taking tensors out of a pickled module needs torch 2.6 or newer, this is "
            f"{torch.__version__}; with it, docs/models.md shows how"
        )
    with torch.serialization.safe_globals(allowed):
        module = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(module, nn.Module):
        raise ValueError(f"{path} holds a {type(module).__name__}, not a pickled module")
    return {name: value.contiguous() for name, value in module.state_dict().items()}


def _class_for(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    if not module.startswith("torch."):
        return (_StandIn, name)
    if module.startswith("torch.nn.modules."):
        kind = getattr(nn, attribute, None)
        if isinstance(kind, type) and issubclass(kind, nn.Module):
            return (kind, name)
    raise ValueError(f"only layers of torch.nn can be allowed from torch, got {name!r}")
