"""The training loop: resumable at every epoch, the same weights for the same seed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from trimtab.models.train.batches import TrainingBatch, TrainingSet, batches, batches_per_epoch
from trimtab.models.train.checkpoint import load_checkpoint, save_checkpoint
from trimtab.models.train.recipe import Recipe, learning_rate, make_optimizer

Report = Callable[[int, float], None]
"""Called with the number of finished epochs and the mean loss of the last one."""


def train(
    model: nn.Module,
    data: TrainingSet,
    recipe: Recipe,
    checkpoint: Path,
    *,
    compiled: bool = False,
    advance: Callable[[], None] = lambda: None,
    report: Report = lambda _epoch, _loss: None,
) -> None:
    """Train ``model`` in place, going on from ``checkpoint`` where that exists.

    ``advance`` is called after each batch, ``report`` after each epoch.
    """
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = make_optimizer(recipe, model)
    done = _resume(model, optimizer, recipe, checkpoint)
    forward = torch.compile(model) if compiled else model
    steps = batches_per_epoch(data, recipe)
    for epoch in range(done, recipe.epochs):
        model.train()
        losses = []
        for step, batch in enumerate(batches(data, recipe, epoch)):
            progress = (epoch * steps + step) / (recipe.epochs * steps)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(recipe, progress)
            loss = training_loss(forward(batch.inputs), batch, recipe)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
            advance()
        state: dict[str, Any] = {"epoch": epoch + 1, "epochs": recipe.epochs}
        state |= {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        save_checkpoint(checkpoint, state)
        report(epoch + 1, torch.stack(losses).mean().item())


def training_loss(logits: Tensor, batch: TrainingBatch, recipe: Recipe) -> Tensor:
    """Smoothed cross-entropy, mixed with the distance to the teacher where there is one."""
    hard = functional.cross_entropy(logits, batch.labels, label_smoothing=recipe.label_smoothing)
    if batch.teacher is None:
        return hard
    heat = recipe.temperature
    soft = functional.kl_div(
        (logits / heat).log_softmax(dim=1),
        (batch.teacher / heat).log_softmax(dim=1),
        log_target=True,
        reduction="batchmean",
    )
    return (1 - recipe.teacher_weight) * hard + recipe.teacher_weight * heat**2 * soft


def _resume(
    model: nn.Module, optimizer: torch.optim.Optimizer, recipe: Recipe, checkpoint: Path
) -> int:
    state = load_checkpoint(checkpoint)
    if state is None:
        return 0
    if state["epochs"] != recipe.epochs:
        raise ValueError(
            f"{checkpoint} belongs to a training of {state['epochs']} epochs, "
            f"this one has {recipe.epochs}; remove the file to begin again"
        )
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return int(state["epoch"])
