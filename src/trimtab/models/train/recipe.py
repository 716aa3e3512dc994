"""How each shipped network is trained: the settings, and the learning rate over time."""

import math
from dataclasses import dataclass, replace

from torch import nn, optim


@dataclass(frozen=True)
class Recipe:
    """Everything but the data and the architecture that decides the weights.

    The first ``small_epochs`` use images of ``small_size`` px, which costs about half.
    ``teacher_weight`` is the share of the loss that compares with a teacher's softened
    outputs, where a teacher is given; the rest is cross-entropy with smoothed labels.
    After ``restart`` epochs the learning rate begins a second cycle of half the height.
    ``start`` names the shipped network whose tensors of the same name the training begins with.
    """

    epochs: int
    small_epochs: int = 0
    small_size: int = 24
    batch_size: int = 128
    optimizer: str = "sgd"
    peak_lr: float = 0.2
    weight_decay: float = 5e-4
    label_smoothing: float = 0.1
    max_shift: int = 4
    teacher_weight: float = 0.7
    temperature: float = 3.0
    held_out: int = 2000
    seed: int = 0
    start: str | None = None
    restart: int | None = None


_TRANSFORMER = Recipe(epochs=10, optimizer="adamw", peak_lr=2e-3, weight_decay=0.05)

RECIPES = {
    "cifar10_resnet20_bn": Recipe(epochs=17, small_epochs=9),
    "cifar10_resnet20_gn": Recipe(
        epochs=5, small_epochs=2, peak_lr=0.05, start="cifar10_resnet20_bn"
    ),
    "cifar10_vit": replace(_TRANSFORMER, epochs=18, restart=10),
    "fashion_resnet20_bn": Recipe(epochs=8, small_epochs=3, max_shift=2),
    "fashion_resnet20_gn": Recipe(epochs=7, small_epochs=3, max_shift=2, peak_lr=0.1),
    "fashion_vit": replace(_TRANSFORMER, epochs=6, max_shift=2),
    "scenes_unet_bn": Recipe(
        epochs=2,
        batch_size=32,
        optimizer="adamw",
        peak_lr=6e-3,
        weight_decay=0.02,
        label_smoothing=0.0,
        max_shift=0,
        held_out=500,
    ),
    "validation_plain_bn": Recipe(epochs=16, small_epochs=9, small_size=20),
    "validation_convnet_ln": replace(
        _TRANSFORMER, epochs=13, small_epochs=8, small_size=20, peak_lr=4e-3
    ),
    "validation_gn_weak": Recipe(
        epochs=6, small_epochs=3, small_size=20, peak_lr=0.1, label_smoothing=0.0
    ),
}


def learning_rate(recipe: Recipe, progress: float) -> float:
    """The rate at ``progress`` in [0, 1]: one cycle, or two where the recipe restarts."""
    first = 1.0 if recipe.restart is None else recipe.restart / recipe.epochs
    if progress < first or first == 1:
        return recipe.peak_lr * _cycle(progress / first)
    return recipe.peak_lr / 2 * _cycle((progress - first) / (1 - first))


def _cycle(progress: float) -> float:
    """Up to 1 for a quarter of the way, then a cosine to 0."""
    if progress < 0.25:
        return 0.04 + 0.96 * progress / 0.25
    return 0.5 * (1 + math.cos(math.pi * (progress - 0.25) / 0.75))


def make_optimizer(recipe: Recipe, model: nn.Module) -> optim.Optimizer:
    """The optimiser over ``model``; vectors (norm layers, biases) are not decayed."""
    decayed = [param for param in model.parameters() if param.dim() > 1]
    plain = [param for param in model.parameters() if param.dim() <= 1]
    groups = [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    if recipe.optimizer == "adamw":
        return optim.AdamW(groups, lr=recipe.peak_lr)
    return optim.SGD(groups, lr=recipe.peak_lr, momentum=0.9, nesterov=True)
