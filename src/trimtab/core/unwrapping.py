"""From a model as users have it (compiled, distributed, in a trainer) to plain modules."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
}
"""Modules that stand around another one, by the name of their class: where it is."""

TRAINERS = ("_trainer", "_fabric", "trainer")
"""Attributes by which a module knows its trainer (Lightning), which a copy must not."""


class Watcher:
    """A hook that hands the first input of a module on; copies of modules leave it behind."""

    def __init__(self, seen: list[Tensor]) -> None:
        self.seen = seen

    def __call__(self, _module: nn.Module, args: tuple[Any, ...]) -> None:
        self.seen.append(args[0])


def unwrapped(model: Any) -> nn.Module:
    """The module inside of ``torch.compile``'s, DDP's and DataParallel's; others are refused."""
    while True:
        inner = _inside(model)
        if inner is None:
            break
        model = inner
    _refuse(model)
    return model  # type: ignore[no-any-return]


def second_tree(model: nn.Module) -> nn.Module:
    """New modules over the same values, frozen and in evaluation mode.

    ``copy.deepcopy`` takes what its memo already knows: each tensor is known by a detached twin
    that shares its storage, so tied weights stay tied and nothing is copied but weights that were
    made in inference mode, which nothing can learn from.
    """
    memo: dict[int, object] = {}
    for module in model.modules():
        for name, value in (*vars(module).items(), *module._buffers.items()):
            if isinstance(value, Tensor):
                memo[id(value)] = _twin(value)
            elif name in TRAINERS and value is not None:
                memo[id(value)] = None
        for parameter in module._parameters.values():
            if parameter is not None:
                memo[id(parameter)] = nn.Parameter(_twin(parameter), requires_grad=False)
    try:
        for module in reversed(list(model.modules())):  # the innermost first
            inner = _inside(module)
            if inner is not None:
                memo[id(module)] = copy.deepcopy(inner, memo)
        tree = copy.deepcopy(model, memo)
    except (TypeError, RuntimeError, AttributeError) as error:
        raise ValueError(
            f"the modules of {type(model).__name__} cannot be copied, which keeps yours untouched: "
            f"{error}; take the attribute that is in the way off the model first"
        ) from error
    for module in tree.modules():
        hooks = module._forward_pre_hooks
        for key in [key for key, hook in hooks.items() if isinstance(hook, Watcher)]:
            del hooks[key]
    return tree.eval()


@torch.inference_mode(False)  # in which a copy would be of the same kind
def _twin(value: Tensor) -> Tensor:
    return value.clone() if value.is_inference() else value.detach()


def _inside(model: object) -> nn.Module | None:
    for kind in type(model).__mro__:
        if kind.__name__ in WRAPPERS and kind.__module__.startswith("torch."):
            inner: nn.Module = getattr(model, WRAPPERS[kind.__name__])
            return inner
    return None


def scripted(model: object) -> str:
    """What is to be said of a model of torch.jit; nothing of others."""
    if isinstance(model, torch.jit.ScriptModule):
        return f"{type(model).__name__} is scripted or traced by torch.jit"
    return ""


def _refuse(model: Any) -> None:
    """Say of what cannot be adapted what it is, and what to adapt instead."""
    name, instead = type(model).__name__, "adapt the nn.Module that it was made from"
    if isinstance(model, torch.jit.ScriptModule):
        raise ValueError(f"{scripted(model)}, which hides layers; {instead}")
    if type(model).__module__.startswith("torch.export"):
        raise ValueError(f"{name} is a program of torch.export, which has no layers; {instead}")
    if not isinstance(model, nn.Module) and name.endswith("Backbone"):
        raise ValueError(
            f"model is a {name} already; give it to trimtab.adapt or trimtab.fleet as it is"
        )
    if not isinstance(model, nn.Module):
        raise ValueError(
            f"model must be a torch.nn.Module or a Backbone, got {name}; {instead}; for methods "
            "that train nothing, give trimtab.ForwardBackbone(function)"
        )
    if isinstance(model, torch.fx.GraphModule) and _is_lowered(model):
        raise ValueError(
            f"{name} is a graph of torch.export, in which norm layers are plain operations; "
            f"{instead}"
        )
    sharded = [m for m in model.modules() if "FullyShardedDataParallel" in type(m).__name__]
    if sharded or any("DTensor" in type(p).__name__ for p in model.parameters()):
        raise ValueError(
            f"the weights of {name} are sharded over processes (FSDP); load its full state dict "
            "into a plain copy of the model on one process, and adapt that"
        )
    tensors = [*model.parameters(), *model.buffers()]
    if any(is_lazy(tensor) for tensor in tensors):
        raise ValueError(f"{name} has lazy layers without weights yet; call it on a batch first")
    if any(tensor.is_meta for tensor in tensors):
        raise ValueError(
            f"{name} has weights without values (meta tensors); load its weights first"
        )


def _is_lowered(model: torch.fx.GraphModule) -> bool:
    operations = (node.target for node in model.graph.nodes if node.op == "call_function")
    return any(isinstance(operation, torch._ops.OpOverload) for operation in operations)
