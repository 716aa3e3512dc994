"""AdaContrast (Chen et al., CVPR 2022, arXiv:2204.10377), in its online version."""

from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from trimtab.augment import Augment, augmented
from trimtab.components.pseudo_label_contrast import PseudoLabelContrast, key_params
from trimtab.contrast_views import WeakView
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone, Prediction, Tensors, weights_and_biases
from trimtab.core.card import Card
from trimtab.core.component import Objective, Recall, Start, Step
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE, NormPolicy
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="AdaContrast",
    paper="Chen, Wang, Darrell and Ebrahimi, CVPR 2022, arXiv:2204.10377",
    idea=(
        "Strong views learn pseudo-labels that the nearest features seen so far have voted for, "
        "and tell their own key from a queue of others. It predicts after each update, with "
        "batch-norm statistics that follow the stream."
    ),
    helps="Streams of one domain that last for thousands of samples.",
    hurts="Short streams, fast-changing domains, class-ordered batches.",
    forwards="5 (student: weak view, strong view, prediction; key network: strong and weak view)",
    backwards="1",
)

CONTRAST = "pseudo_label_contrast"
STATISTICS = "key_statistics"


@dataclass(frozen=True)
class ContrastiveLearning(Method):
    """AdaContrast's recipe: learn from views first, predict afterwards."""

    weak: Augment = field(default_factory=WeakView)

    def start(self, backbone: Backbone, **options: Any) -> Adapter:
        return ContrastiveAdapter(backbone, self, **options)


class ContrastiveAdapter(Adapter):
    """A stream whose batch norms train as usual and predict with what they have stored.

    Every pass of the student in an update moves its statistics; the key network has its own. A
    batch is predicted after the update that learns from it. With a window, or a component that
    recalls samples, it is predicted first, and learned from when an update is due.
    """

    method: ContrastiveLearning

    def _new_memory(self, start: Start) -> dict[str, Tensors]:
        statistics = {name: s.clone() for name, s in start.backbone.statistics.items()}
        return super()._new_memory(start) | {STATISTICS: statistics}

    @property
    def _waits(self) -> bool:
        return self.window.size is not None or bool(self._playing(Recall))

    def _advance(self, inputs: Tensor) -> Tensor:
        if self._learning and not self._waits:
            self._learn_again(inputs, None, self.micro_batch or len(inputs))
        return super()._advance(inputs)

    def _learn_or_wait(self, step: Step) -> None:
        if self._waits:
            super()._learn_or_wait(step)
        else:
            self._reset_if_due()

    def _norm_for(self, samples: int) -> NormPolicy:
        return SOURCE

    def _forward_in_parts(self, inputs: Tensor, policy: NormPolicy) -> Prediction:
        with torch.no_grad():
            return super()._forward_in_parts(inputs, policy)

    def _forward_again(self, inputs: Tensor, params: Tensors | None = None) -> Prediction:
        if params is not None or not torch.is_grad_enabled():
            return super()._forward_again(inputs, params)
        self.counters.backward_samples += len(inputs)
        return self._forward(inputs, None, self.method.norm)

    def _learn_again(self, inputs: Tensor, prediction: Prediction | None, micro_batch: int) -> None:
        """One update from weak views of these samples and strong views of those."""
        weak = augmented(self.method.weak, inputs, self.generator)
        with torch.set_grad_enabled(self._weak_view_learns and not self._micro_batched(weak)):
            step = self._step(weak, self._forward(weak, None, self.method.norm))
        if not bool(step.logits.isfinite().all()):
            self.counters.skipped_updates += 1
            return
        with torch.no_grad():
            step = replace(step, targets={CONTRAST: self._contrast_targets(step)})
        self._learn(step, micro_batch)

    def _contrast_targets(self, step: Step) -> Tensors:
        contrast = next(c for c in self._playing(PseudoLabelContrast))
        memory = self.memory[CONTRAST]
        params, statistics, norm = key_params(memory), self.memory[STATISTICS], self.method.norm
        strong = contrast.views(step.inputs, self.generator)
        key = self._forward(strong, params, norm, statistics)
        banked = self._forward(step.inputs, params, norm, statistics)
        detached = replace(step, prediction=step.prediction.detach())
        return contrast.remember(detached, key, banked, memory)

    @property
    def _weak_view_learns(self) -> bool:
        """Whether any objective but the contrast asks for gradients of the weak view."""
        return len(self._playing(Objective)) > 1

    def _with_graph(self, step: Step, rows: Tensor, used: Tensor) -> Step:
        if self._weak_view_learns:
            return super()._with_graph(step, rows, used)
        return replace(step, inputs=step.inputs[used], prediction=step.prediction.rows(used))


def adacontrast(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    momentum: float = 0.999,
    temperature: float = 0.07,
    neighbours: int = 10,
    queue_size: int = 16_384,
    bank_size: int = 16_384,
    refine_from: int = 1024,
    weak: Augment | None = None,
    strong: Augment | None = None,
) -> Method:
    """Learn refined pseudo-labels and instance contrast from views, then predict.

    Trains the tensors that their layers call weight or bias, at one learning rate. ``predict``
    says what the network thinks as it is, which is before the update that a call makes.

    Args:
        lr: Learning rate; by default 2e-4 with SGD, 1e-3 with Adam.
        optimizer: By default SGD with Nesterov momentum 0.9 and weight decay 1e-4, whatever the
            size of the images.
        momentum: Of the key network.
        temperature: Of the contrast.
        neighbours: How many features vote for a pseudo-label.
        queue_size: Keys to contrast with.
        bank_size: Features that can vote.
        refine_from: Samples seen before they vote.
        weak: Makes the weak view; by default a flip. Strong views are made of weak ones.
        strong: Makes the strong views; by default colour jitter, grey, blur and flip.
    """
    contrast = PseudoLabelContrast(
        momentum, temperature, neighbours, queue_size, bank_size, refine_from, strong
    )
    return ContrastiveLearning(
        (contrast,),
        norm=NormPolicy(batch_weight=1.0, keep_weight=0.1, unbiased=True),
        trains=weights_and_biases,
        optimizer=OptimizerChoice(optimizer or "sgd", lr, sgd_lr=2e-4, weight_decay=1e-4),
        weak=weak or WeakView(),
    )
