"""What tells models apart, so that saved states find their own again."""

import hashlib
from dataclasses import asdict, dataclass

import torch
from torch import nn


@dataclass(frozen=True)
class Fingerprint:
    """What tells backbones apart: class, names and shapes of tensors, values of tensors."""

    model: str
    layout: str
    values: str

    def words(self) -> dict[str, str]:
        """By what a reader of a saved state calls them."""
        return {f"backbone's {name}": value for name, value in asdict(self).items()}


def fingerprint_of(model: nn.Module) -> Fingerprint:
    """Identifies a model by its class, its tensors' names and shapes, and their values."""
    layout, values = hashlib.sha256(), hashlib.sha256()
    for name, tensor in model.state_dict().items():
        layout.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}\n".encode())
        raw = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
        values.update(raw.numpy())
    kind = type(model)
    return Fingerprint(kind.__qualname__, layout.hexdigest()[:16], values.hexdigest()[:16])
