"""From what a model returns to logits: (batch, classes), or (batch, classes, height, width)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

PROBABILITIES = "probabilities"
"""Given as ``output``: the model returns probabilities, whose logarithm serves as logits."""

NAMES = ("logits", "out", "output", "predictions")
"""Where logits are found in a mapping or an object, in this order."""

LEAST_PROBABILITY = 1e-12

Output = str | int | Callable[[Any], Tensor] | None


def logits_of(returned: Any, output: Output = None) -> Tensor:
    """Logits among what a model returned.

    Args:
        output: A name or place in it, a function of it, ``"probabilities"``, or None for: a
            tensor, its ``logits``, the first of a tuple.
    """
    if output is None or output == PROBABILITIES:
        found = _found(returned)
    elif callable(output):
        found = output(returned)
    else:
        found = _named(returned, output)
    if not isinstance(found, Tensor):
        raise ValueError(
            f"no logits were found in what the model returns, {_described(returned)}; pass output= "
            "with their name or place, or a function that takes them out"
        )
    if output == PROBABILITIES:
        return found.clamp_min(LEAST_PROBABILITY).log()
    return found


def _found(returned: Any) -> Any:
    if isinstance(returned, Tensor):
        return returned
    for name in NAMES:
        if isinstance(returned, Mapping) and name in returned:
            return returned[name]
        if not isinstance(returned, Mapping) and isinstance(getattr(returned, name, None), Tensor):
            return getattr(returned, name)
    if isinstance(returned, (tuple, list)) and len(returned):
        return returned[0]
    return None


def _named(returned: Any, name: Any) -> Any:
    if isinstance(returned, Tensor) and isinstance(name, str):
        return None  # torch takes a name for a list of places, and only warns
    try:
        return returned[name]
    except (KeyError, IndexError, TypeError):
        return getattr(returned, name, None) if isinstance(name, str) else None


def _described(returned: Any) -> str:
    kind = type(returned).__name__
    if isinstance(returned, Mapping):
        return f"a {kind} with {', '.join(map(repr, returned)) or 'nothing'}"
    if isinstance(returned, (tuple, list)):
        return f"a {kind} of {', '.join(type(item).__name__ for item in returned) or 'nothing'}"
    return f"a {kind}"


def described(output: Output) -> str:
    """A setting of ``output`` as a word that does not change between runs."""
    return (
        getattr(output, "__qualname__", type(output).__name__) if callable(output) else f"{output}"
    )


def check(
    logits: Tensor, again: Callable[[], Tensor], model: nn.Module, output: Output, *, dense: bool
) -> None:
    """Refuse outputs of one sample that are no logits of two classes or more.

    Args:
        again: Outputs of another sample.
        dense: Whether each pixel has logits of its own.
    """
    shape = tuple(logits.shape)
    _check_dimensions(shape, dense)
    if shape[0] != 1:
        raise ValueError(f"the model must return one row for each sample, got {shape[0]} for one")
    if shape[1] == 1:
        raise ValueError(
            "the model returns one logit, and adaptation compares two classes or more; pass "
            "output=lambda z: torch.cat([torch.zeros_like(z), z], 1) for 'no' and 'yes'"
        )
    if output is None and _are_probabilities(logits) and _are_probabilities(again()):
        raise ValueError(
            "the model returns probabilities (they sum to 1), and adaptation needs logits; pass "
            'output="probabilities" to take their logarithm, or leave out the softmax'
        )
    if output is None and isinstance(_last_layer(model), nn.Sigmoid):
        raise ValueError(
            "the model ends in a sigmoid: several labels can hold for a sample, and adaptation "
            "needs one class of several per sample; pass output= with a function to such logits"
        )


def _check_dimensions(shape: tuple[int, ...], dense: bool) -> None:
    if dense and len(shape) != 4:
        raise ValueError(
            "a segmentation model must return logits of shape (batch, classes, height, width), got "
            f"{shape} for one sample; choose them with output=, or leave out task="
        )
    if not dense and len(shape) != 2:
        hint = 'for one per pixel, pass task="segmentation"; ' if len(shape) == 4 else ""
        raise ValueError(
            f"the model must return logits of shape (batch, classes), got {shape} for one sample; "
            f"{hint}for one decision per sample, average or choose with output="
        )


def noise_like(inputs: Tensor) -> Tensor:
    """Other inputs of the same shape, always the same; structured ones as they are."""
    if not isinstance(inputs, Tensor):
        return inputs
    noise = torch.rand(inputs.shape, generator=torch.Generator().manual_seed(0))
    return noise.to(inputs)


def _are_probabilities(outputs: Tensor) -> bool:
    rows = outputs.float()
    return bool((rows >= 0).all() and (rows.sum(1) - 1).abs().max() < 1e-3)


def _last_layer(model: nn.Module) -> nn.Module | None:
    leaves = [layer for layer in model.modules() if not any(True for _ in layer.children())]
    return leaves[-1] if leaves else None
