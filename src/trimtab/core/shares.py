"""Shares of classes among predictions, and how many classes they show."""

import torch
from torch import Tensor


def class_shares(said: Tensor, classes: int) -> Tensor:
    """How often each class is predicted, shape (classes,)."""
    return torch.bincount(said, minlength=classes).float() / max(len(said), 1)


def effective_classes(shares: Tensor) -> float:
    """How many classes show: the exponential of their shares' entropy; rare ones hardly count."""
    return float(torch.special.entr(shares).sum().exp())
