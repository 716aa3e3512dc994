"""Formulas that several components share: tensors in, tensors out.

Classes are the second dimension: logits (batch, classes) give one number for each row, logits
(batch, classes, height, width) one for each pixel.
"""

import torch
from torch import Tensor


def entropy(logits: Tensor) -> Tensor:
    """Entropy of each row's softmax, in nats."""
    return -(logits.softmax(1) * logits.log_softmax(1)).sum(1)


def cross_entropy(target_logits: Tensor, logits: Tensor) -> Tensor:
    """Cross entropy of each row's softmax against the target's softmax, in nats."""
    return -(target_logits.softmax(1) * logits.log_softmax(1)).sum(1)


def symmetric_cross_entropy(first: Tensor, second: Tensor) -> Tensor:
    """Mean of the cross entropies of each row of logits against the other's, in nats."""
    return 0.5 * (cross_entropy(first, second) + cross_entropy(second, first))


def soft_likelihood_ratio(logits: Tensor, ceiling: float = 0.99, eps: float = 1e-5) -> Tensor:
    """Negative expected log odds of each row: its gradient does not fade with certainty."""
    p = logits.softmax(1).clamp(max=ceiling)  # past the ceiling nothing pushes further
    return -(p * torch.log(p / (1 - p) + eps)).sum(1)


def move_towards(averages: dict[str, Tensor], values: dict[str, Tensor], weight: float) -> None:
    """Move each average by ``weight`` of the way to the value of its name, in place."""
    with torch.no_grad():
        targets = [values[name].detach().to(average.dtype) for name, average in averages.items()]
        torch._foreach_lerp_(list(averages.values()), targets, weight)


def averaged_over_kept(weights: Tensor) -> Tensor:
    """Weights whose batch mean of weighted losses is the mean over the samples that count.

    Shape (batch,), or (batch, height, width) of pixels; where none counts, all stay zero.
    """
    return weights * (weights.numel() / max(int((weights > 0).sum()), 1))


def class_means(values: Tensor) -> Tensor:
    """Mean of each class over samples, or over all pixels, shape (classes,)."""
    return values.mean(0) if values.dim() == 2 else values.mean((0, *range(2, values.dim())))


def class_means_over(values: Tensor, kept: Tensor) -> Tensor:
    """The same over those samples or pixels alone that ``kept`` marks, of which there are some."""
    if values.dim() == 2:
        return values[kept].mean(0)
    # an image at a time: a copy of what is kept is as large as what it is taken from
    sums = [image[:, chosen].sum(1) for image, chosen in zip(values, kept, strict=True)]
    return torch.stack(sums).sum(0) / kept.sum()


def along_classes(values: Tensor, like: Tensor) -> Tensor:
    """One value per class, (classes,), in a shape to compute with logits like these."""
    return values.view(1, -1, *[1] * (like.dim() - 2))


def full_copy(tensor: Tensor) -> Tensor:
    """A copy in float32 at least: small steps would be lost in half precision's rounding."""
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32), copy=True)
