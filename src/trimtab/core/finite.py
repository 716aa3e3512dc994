"""Whether numbers are finite, asked in few operations."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor


class NotFiniteError(ArithmeticError):
    """Something that a stream would have to live with is not finite: the attempt is off."""


def is_finite(tensor: Tensor) -> bool:
    """Whether no value is NaN or infinite; without values, yes."""
    if not tensor.numel() or not tensor.is_floating_point():
        return True
    low, high = tensor.detach().aminmax() if tensor.requires_grad else tensor.aminmax()
    return math.isfinite(low.item()) and math.isfinite(high.item())


@torch.no_grad()
def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Whether no value of any of them is NaN or infinite."""
    kinds: dict[tuple[torch.dtype, torch.device], list[Tensor]] = {}
    for tensor in tensors:
        if tensor.is_floating_point():
            flat = tensor if tensor.dim() == 1 else tensor.reshape(-1)
            kinds.setdefault((tensor.dtype, tensor.device), []).append(flat)
    return all(is_finite(torch.cat(group)) for group in kinds.values())


def without_nonsense(logits: Tensor) -> Tensor:
    """The logits, with rows of zeros, which favour no class, where some are not finite."""
    sound = logits.isfinite().all(1, keepdim=True)
    return torch.where(sound, logits, torch.zeros_like(logits))
