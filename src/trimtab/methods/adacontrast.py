"""AdaContrast: contrastive pseudo-labelling (Chen et al., CVPR 2022, arXiv:2204.10377), online."""

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from trimtab.augment import Augment, augmented
from trimtab.augment.contrast import WeakView
from trimtab.components.pseudo_label_contrast import PseudoLabelContrast, key_params
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors, weights_and_biases
from trimtab.core.card import Card
from trimtab.core.component import Objective, Recall, Start, Step
from trimtab.core.finite import is_finite
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE, NormPolicy
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.prediction import Prediction

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
class ContrastiveLearning(Learner):
    """Learns from views first and predicts afterwards, with what batch norms have stored.

    Every pass of the student in an update moves its statistics; the key network has its own. A
    batch is predicted after the update that learns from it. With a window, or a component that
    recalls samples, it is predicted first, and learned from when an update is due.
    """

    weak: Augment = field(default_factory=WeakView)

    def own_memory(self, start: Start) -> dict[str, Tensors]:
        """The key network's statistics."""
        return {STATISTICS: {name: s.clone() for name, s in start.backbone.statistics.items()}}

    def advance(self, attempt: Attempt, inputs: Tensor) -> Tensor:
        if attempt.learning and not _waits(attempt):
            self.learn_again(attempt, inputs, None, attempt.micro_batch or len(inputs))
        return super().advance(attempt, inputs)

    def learn_or_wait(self, attempt: Attempt, step: Step) -> None:
        if _waits(attempt):
            super().learn_or_wait(attempt, step)
        else:
            self.reset_if_due(attempt)

    def first_norm(self, attempt: Attempt, samples: int) -> NormPolicy:
        return SOURCE

    def predict(self, attempt: Attempt, inputs: Tensor) -> Prediction:
        with torch.no_grad():
            return super().predict(attempt, inputs)

    def further_pass(
        self,
        attempt: Attempt,
        inputs: Tensor,
        params: Tensors | None = None,
        policy: NormPolicy | None = None,
    ) -> Prediction:
        """The student's passes in an update move its statistics; all others as usual."""
        if params is not None or policy is not None or not torch.is_grad_enabled():
            return super().further_pass(attempt, inputs, params, policy)
        attempt.state.counters.backward_samples += len(inputs)
        return attempt.forward(inputs, None, attempt.method.norm)

    def learn_again(
        self, attempt: Attempt, inputs: Tensor, prediction: Prediction | None, micro_batch: int
    ) -> None:
        """One update from weak views of these samples and strong views of those."""
        weak = augmented(self.weak, inputs, attempt.state.generator)
        # a graph serves one backward pass only, so micro-batches make their own
        with torch.set_grad_enabled(_weak_view_learns(attempt) and len(weak) <= micro_batch):
            step = attempt.step(weak, attempt.forward(weak, None, attempt.method.norm))
        if not is_finite(step.logits):
            attempt.state.counters.skipped_updates += 1
            return
        with torch.no_grad():
            step = replace(step, targets={CONTRAST: self._targets(attempt, step)})
        self.learn(attempt, step, micro_batch)

    def _targets(self, attempt: Attempt, step: Step) -> Tensors:
        state, norm = attempt.state, attempt.method.norm
        contrast = attempt.playing(PseudoLabelContrast)[0]
        memory, statistics = state.memory[CONTRAST], state.memory[STATISTICS]
        strong = contrast.views(step.inputs, state.generator)
        key = attempt.forward(strong, key_params(memory), norm, statistics)
        banked = attempt.forward(step.inputs, key_params(memory), norm, statistics)
        detached = replace(step, prediction=step.prediction.detach())
        return contrast.remember(detached, key, banked, memory)

    def with_graph(self, attempt: Attempt, step: Step, rows: Tensor, used: Tensor) -> Step:
        if _weak_view_learns(attempt):
            return super().with_graph(attempt, step, rows, used)
        return replace(step, inputs=step.inputs[used], prediction=step.prediction.rows(used))


def _waits(attempt: Attempt) -> bool:
    """Whether samples are learned from later than they are predicted."""
    return attempt.state.window.size is not None or bool(attempt.playing(Recall))


def _weak_view_learns(attempt: Attempt) -> bool:
    """Whether any objective but the contrast asks for gradients of the weak view."""
    return len(attempt.playing(Objective)) > 1


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
        momentum: Share of the key network's weights that stays at each update.
        temperature: Temperature of the contrastive loss.
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
    return Method(
        (contrast,),
        norm=NormPolicy(batch_weight=1.0, keep_weight=0.1, unbiased=True),
        trains=weights_and_biases,
        optimizer=OptimizerChoice(optimizer or "sgd", lr, sgd_lr=2e-4, weight_decay=1e-4),
        learner=ContrastiveLearning(weak or WeakView()),
    )
