"""Mean and variance of each channel of a batch."""

import torch
from torch import Tensor


def moments(x: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """Mean and variance of each channel."""
    if torch.is_grad_enabled() or x.dtype not in (torch.float32, torch.float64):
        axes = [axis for axis in range(x.dim()) if axis != 1]
        var, mean = torch.var_mean(x, axes, correction=int(unbiased))
        return mean, var
    # several times as fast on a CPU, but without gradients
    mean, var = torch.batch_norm_update_stats(x, None, None, 0.0)
    count = x.numel() // x.shape[1]
    return mean, var * (count / (count - 1)) if unbiased else var


def moments_around_median(x: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
    """Median of each channel, and the mean square around it."""
    values = x.transpose(0, 1).flatten(1)
    middle = values.median(1).values
    squares = (values - middle[:, None]).square().sum(1)
    return middle, squares / (values.shape[1] - int(unbiased))


def towards(
    stored: tuple[Tensor, Tensor],
    seen: tuple[Tensor, Tensor],
    weight: float | Tensor,
    between: float | Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Stored mean and variance moved by ``weight`` towards those that were seen.

    Args:
        between: How much the squared distance of both means adds to the variance.
    """
    (mean, var), (seen_mean, seen_var) = stored, seen
    blended = var.lerp(seen_var, weight)
    if between is not None:
        blended = blended + between * (seen_mean - mean).square()
    return mean.lerp(seen_mean, weight), blended
