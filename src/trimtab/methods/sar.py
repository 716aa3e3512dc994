"""SAR (Niu et al., ICLR 2023, arXiv:2302.12400)."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from trimtab.components.entropy import Entropy
from trimtab.components.recovery import Recovery
from trimtab.components.reliable_samples import ReliableSamples
from trimtab.core import component as roles
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone, in_norm_layers
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import OptimizerChoice
from trimtab.core.position import NormBeforeLastBlocks

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
class SharpnessAware(Method):
    """A method that takes its gradients at the worst weights within ``radius``."""

    radius: float = 0.05

    def start(self, backbone: Backbone, **options: Any) -> Adapter:
        return SharpnessAwareAdapter(backbone, self, **options)


class SharpnessAwareAdapter(Adapter):
    """One stream of a ``SharpnessAware`` method: each update costs a second pass."""

    method: SharpnessAware

    def _learn_nothing(self) -> None:
        """As in the reference, the velocity of earlier updates still moves the weights."""
        for tensor in self._trained():
            tensor.grad = torch.zeros_like(tensor)
        self._update()

    def _add_up_gradients(self, step: roles.Step, weights: Tensor, micro_batch: int) -> bool:
        """Gradients at the worst weights nearby; False once something is not finite."""
        if self._reliable_gradients(step, weights, micro_batch) is None:
            return False
        before = self._climb()
        again = replace(step, prediction=step.prediction.detach())
        losses = self._reliable_gradients(again, weights, micro_batch)
        with torch.no_grad():
            for tensor, value in zip(self._trained(), before, strict=True):
                tensor.copy_(value)
        if losses is None:
            return False
        self._show_losses(losses)
        return True

    def _reliable_gradients(
        self, step: roles.Step, weights: Tensor, micro_batch: int
    ) -> Tensor | None:
        """Gradients from the samples that are reliable under the present weights; their losses."""
        found = []
        for part, used in self._parts_with_graph(step, weights > 0, micro_batch):
            reliable, losses = self._reliable(part.logits), self._losses(part)
            loss = (weights[used] * reliable * losses).sum() / len(weights)
            if not bool(loss.isfinite()):
                return None
            (loss * self._loss_scale).backward()
            found.append(losses.detach()[reliable])
        # The weights average over all that were reliable before; fewer may be left.
        share = int((weights > 0).sum()) / max(sum(len(losses) for losses in found), 1)
        for tensor in self._trained():
            tensor.grad = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad * share
        penalty = self._penalty()
        if isinstance(penalty, Tensor):
            (penalty * self._loss_scale).backward()
        return torch.cat(found)

    @torch.no_grad()
    def _reliable(self, logits: Tensor) -> Tensor:
        everyone = torch.ones_like(logits[:, 0], dtype=torch.bool)
        rules = self._playing(ReliableSamples)
        return torch.stack([everyone, *(rule.keeps(logits) for rule in rules)]).all(0)

    @torch.no_grad()
    def _climb(self) -> list[Tensor]:
        """Move ``radius`` along the gradients, clear them, and return the values from before."""
        trained = self._trained()
        before = [tensor.clone() for tensor in trained]
        uphill = [tensor.grad for tensor in trained if tensor.grad is not None]
        size = torch.stack([grad.norm() for grad in uphill]).norm() + 1e-12
        for tensor, grad in zip(trained, uphill, strict=True):
            tensor.add_(grad * (self.method.radius / size))
            tensor.grad = None
        return before


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
    return SharpnessAware(
        (Entropy(), ReliableSamples(max_entropy), Recovery(min_loss)),
        trains=in_norm_layers if train_last_blocks else NormBeforeLastBlocks(),
        optimizer=OptimizerChoice("sgd", lr, small_sgd_lr=1e-3, nesterov=False),
        radius=radius,
    )
