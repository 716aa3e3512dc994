"""SAR: sharpness-aware entropy minimisation (Niu et al., ICLR 2023, arXiv:2302.12400)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trimtab.components.entropy import Entropy
from trimtab.components.recovery import Recovery
from trimtab.components.reliable_samples import ReliableSamples
from trimtab.core import gradients
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors, in_norm_layers
from trimtab.core.card import Card
from trimtab.core.component import Step
from trimtab.core.finite import is_finite
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.optimizer import OptimizerChoice
from trimtab.core.position import NormBeforeLastBlocks
from trimtab.core.update import update

CARD = Card(
    title="SAR",
    paper="Niu et al., ICLR 2023, arXiv:2302.12400",
    idea=(
        "Minimises the entropy of certain samples at the worst weights near the present ones, so "
        "that it ends where the loss is flat. When the loss says that the model collapses, the "
        "source weights come back."
    ),
    helps="Small or mixed batches, above all with group or layer norms.",
    hurts="Confident models of few classes: their loss looks like a collapse all the time.",
    forwards="1 and one more where a sample is kept (for the whole batch with batch norms)",
    backwards="2 for each kept sample",
)


@dataclass(frozen=True)
class SharpnessAware(Learner):
    """Takes gradients at the worst weights within ``radius``: each update costs a second pass."""

    radius: float = 0.05

    def learn_nothing(self, attempt: Attempt) -> None:
        """As in the reference, the velocity of earlier updates still moves the weights."""
        for tensor in attempt.state.trained():
            tensor.grad = torch.zeros_like(tensor)
        update(attempt)

    def add_up_gradients(
        self, attempt: Attempt, step: Step, weights: Tensor, micro_batch: int
    ) -> bool:
        """Gradients at the worst weights nearby; False once something is not finite."""
        if reliable_gradients(attempt, step, weights, micro_batch) is None:
            return False
        here = self._climb(attempt)
        again = replace(step, prediction=step.prediction.detach())
        losses = reliable_gradients(attempt, again, weights, micro_batch)
        for tensors, name, tensor in here:
            tensor.grad = tensors[name].grad
            tensors[name] = tensor
        if losses is None:
            return False
        gradients.show_losses(attempt, losses)
        return True

    @torch.no_grad()
    def _climb(self, attempt: Attempt) -> list[tuple[Tensors, str, Tensor]]:
        """Replace the trained tensors by ones ``radius`` uphill; what was where before."""
        here = attempt.state.places()
        uphill = [tensor.grad for _, _, tensor in here if tensor.grad is not None]
        size = torch.stack([grad.norm() for grad in uphill]).norm() + 1e-12
        for (tensors, name, tensor), grad in zip(here, uphill, strict=True):
            tensors[name] = (tensor + grad * (self.radius / size)).requires_grad_()
            tensor.grad = None
        return here


def reliable_gradients(
    attempt: Attempt, step: Step, weights: Tensor, micro_batch: int
) -> Tensor | None:
    """Gradients from the samples that are reliable under the present weights; their losses."""
    found = []
    kept = gradients.samples_that_count(weights)
    parts = gradients.parts_with_graph(attempt, step, kept, micro_batch)
    for part, used in parts:
        reliable, losses = reliable_rows(attempt, part.logits), gradients.losses_of(attempt, part)
        reliable = reliable if losses.dim() == 1 else reliable & (weights[used] > 0)
        loss = (weights[used] * reliable * losses).sum() / weights.numel()
        if not is_finite(loss):
            return None
        attempt.backward(loss)
        found.append(losses.detach()[reliable])
    # The weights average over all that were reliable before; fewer may be left.
    share = int((weights > 0).sum()) / max(sum(len(losses) for losses in found), 1)
    for tensor in attempt.state.trained():
        tensor.grad = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad * share
    penalty = gradients.penalty_of(attempt)
    if isinstance(penalty, Tensor):
        attempt.backward(penalty)
    return torch.cat(found)


@torch.no_grad()
def reliable_rows(attempt: Attempt, logits: Tensor) -> Tensor:
    """Which rows are certain enough for every rule that asks, booleans of shape (batch,)."""
    everyone = torch.ones_like(logits[:, 0], dtype=torch.bool)
    rules = attempt.playing(ReliableSamples)
    return torch.stack([everyone, *(rule.keeps(logits) for rule in rules)]).all(0)


def sar(
    *,
    lr: float | None = None,
    radius: float = 0.05,
    max_entropy: float = 0.4,
    min_loss: float = 0.2,
    train_last_blocks: bool = False,
) -> Method:
    """Minimise the entropy of certain samples at the worst weights nearby, and recover.

    Trained by SGD with momentum 0.9. Its velocity moves the weights also when no sample is
    certain, and survives a recovery; both as in the reference.

    Args:
        lr: Learning rate; by default 1e-3 for images of up to 64 px a side, 2.5e-4 for larger
            ones. The authors take 1e-3 for vision transformers on large images.
        radius: How far the worst weights are sought (the paper's rho).
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        min_loss: Source weights come back when the loss's moving average falls below this many
            nats.
        train_last_blocks: Train the norm layers of the last blocks too. By default the last
            quarter of four or more is left alone (of ResNet-50 the last stage, of a ViT-B the
            last three blocks), and so is what follows.
    """
    if not radius >= 0:
        raise ValueError(f"radius must be 0 or more, got {radius}")
    return Method(
        (Entropy(), ReliableSamples(max_entropy), Recovery(min_loss)),
        trains=in_norm_layers if train_last_blocks else NormBeforeLastBlocks(),
        optimizer=OptimizerChoice("sgd", lr, small_sgd_lr=1e-3, nesterov=False),
        learner=SharpnessAware(radius),
    )
