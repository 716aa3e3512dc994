"""Puts a file's tensors into a network, or says what is the first thing that does not fit."""

import re
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

PREFIXES = ("module.", "model.", "net.", "_orig_mod.")
"""What wrappers (data parallel, training loops, torch.compile) put before every name."""

NORMALIZATION = {"mu": "mean", "mean": "mean", "sigma": "std", "std": "std"}
"""Names under which a checkpoint may state the normalisation of its inputs."""


def fit(
    model: nn.Module,
    tensors: dict[str, Tensor],
    path: Path,
    *,
    renames: Sequence[tuple[str, str]] = (),
    left_out: Sequence[str] = (),
) -> None:
    """Load ``tensors`` into ``model``; where they do not fit, nothing is changed."""
    expected = model.state_dict()
    named = _in_our_names(tensors, expected, renames)
    named = {name: v for name, v in named.items() if not name.startswith(tuple(left_out))}
    # Counts of batches decide nothing here, and old files lack them.
    counts = {name: v for name, v in expected.items() if name.endswith("num_batches_tracked")}
    named = {**counts, **named}
    mismatches = list(_mismatches(expected, named))
    if mismatches:
        raise ValueError(
            f"{path} does not fit {type(model).__name__}: {mismatches[0]} (the first of "
            f"{len(mismatches)} mismatches; its {len(tensors)} tensors begin with "
            f"{next(iter(tensors), 'none')!r})"
        )
    model.load_state_dict(named)


def take_normalization(tensors: dict[str, Tensor]) -> dict[str, tuple[float, ...]]:
    """Remove what ``tensors`` says about input normalisation, and return it as mean and std."""
    stated = {}
    for name in list(tensors):
        kind = NORMALIZATION.get(name.split(".")[-1])
        if kind is not None and tensors[name].numel() == 3:
            values = tensors.pop(name).flatten().tolist()
            stated[kind] = tuple(round(value, 6) for value in values)
    return stated


def _in_our_names(
    tensors: dict[str, Tensor], expected: dict[str, Tensor], renames: Sequence[tuple[str, str]]
) -> dict[str, Tensor]:
    named = dict(tensors)
    prefix: str | None = ""
    while prefix is not None:
        named = {name.removeprefix(prefix): value for name, value in named.items()}
        prefix = next((p for p in PREFIXES if _is_wrapped(named, expected, p)), None)
    for pattern, replacement in renames:
        named = {re.sub(pattern, replacement, name): value for name, value in named.items()}
    return named


def _is_wrapped(named: dict[str, Tensor], expected: dict[str, Tensor], prefix: str) -> bool:
    """All names carry a prefix that is none of the network's own."""
    own = any(name.startswith(prefix) for name in expected)
    return bool(named) and not own and all(name.startswith(prefix) for name in named)


def _mismatches(expected: dict[str, Tensor], named: dict[str, Tensor]) -> list[str]:
    found = []
    for name, ours in expected.items():
        theirs = named.get(name)
        if theirs is None:
            found.append(f"it has no {name!r}")
        elif theirs.shape != ours.shape:
            wanted, got = tuple(ours.shape), tuple(theirs.shape)
            found.append(f"{name!r} should have the shape {wanted}, it has {got}")
        elif theirs.is_floating_point() != ours.is_floating_point():
            found.append(f"{name!r} should be of type {ours.dtype}, it is {theirs.dtype}")
        elif theirs.is_floating_point() and not torch.isfinite(theirs).all():
            found.append(f"{name!r} has values that are not finite")
    found += [f"it has {name!r}, which is unknown here" for name in named if name not in expected]
    return found
