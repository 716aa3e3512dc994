"""Made-up logits of a model that mostly is right."""

import torch
from torch import Tensor


def noisy(labels: Tensor, classes: int, height: float = 4.0) -> Tensor:
    """Logits of a model that mostly is right: normal noise, and more at the true class."""
    noise = torch.randn(len(labels), classes, generator=torch.Generator().manual_seed(3))
    return noise + height * torch.eye(classes)[labels]


def drawn(samples: int, classes: int) -> Tensor:
    return torch.randint(classes, (samples,), generator=torch.Generator().manual_seed(0))
