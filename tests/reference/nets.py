"""The three tiny nets that the recorded numbers were made with."""

import torch
from torch import Tensor, nn


class Tokens(nn.Module):
    """(batch, channels, height, width) to (batch, tokens, channels)."""

    def forward(self, x: Tensor) -> Tensor:
        return x.flatten(2).transpose(1, 2)


class TokenMean(nn.Module):
    """Mean over the tokens."""

    def forward(self, x: Tensor) -> Tensor:
        return x.mean(1)


class Net(nn.Module):
    """An encoder and a linear classifier of seven classes."""

    def __init__(self, encoder: nn.Sequential) -> None:
        super().__init__()
        self.encoder = encoder
        self.classifier = nn.Linear(16, 7)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.encoder(x))


def convolutional(first: nn.Module, second: nn.Module) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1, bias=False),
        first,
        nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1, bias=False),
        second,
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
    )


def tokens() -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 16, 4, stride=4),
        Tokens(),
        nn.LayerNorm(16),
        nn.Linear(16, 16),
        nn.GELU(),
        nn.LayerNorm(16),
        TokenMean(),
    )


def net(norm: str) -> Net:
    """The net with batch ("bn"), group ("gn") or layer ("ln") norms, randomly initialised."""
    if norm == "bn":
        return Net(convolutional(nn.BatchNorm2d(8), nn.BatchNorm2d(16)))
    if norm == "gn":
        return Net(convolutional(nn.GroupNorm(4, 8), nn.GroupNorm(4, 16)))
    return Net(tokens())


def trained(norm: str, recorded: dict[str, Tensor]) -> Net:
    """The net with the recorded source weights, in training mode as torch makes it."""
    model = net(norm)
    prefix = f"{norm}/init/"
    weights = {k.removeprefix(prefix): v for k, v in recorded.items() if k.startswith(prefix)}
    missing = model.load_state_dict(weights, strict=False)
    assert not missing.unexpected_keys
    assert all("num_batches_tracked" in key for key in missing.missing_keys)
    return model


def images(recorded: dict[str, Tensor]) -> Tensor:
    """The stream, (6, 16, 3, 16, 16) in [0, 1]."""
    return recorded["stream"].to(torch.float32) / 255
