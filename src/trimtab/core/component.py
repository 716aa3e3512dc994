"""The roles a component can play in a method.

Weights multiply, losses and penalties add, parameter rules and output rules run in the order
listed. A component that plays several roles inherits from several classes and has one memory.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import ClassVar, Protocol

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.norm import BATCH, NormPolicy
from trimtab.core.prediction import Prediction
from trimtab.core.task import CLASSIFICATION, Task

SOURCE_PASS = -1
"""In the place of a view among predictions that are made once: the inputs, by the source model."""


NAME_FEATURES = (
    "name the module that classifies them with classifier=, or let the function of a "
    "ForwardBackbone return a pair of logits and features"
)
"""What to do where features are needed and there are none."""


class Forward(Protocol):
    """The stream's way to its backbone."""

    def __call__(
        self, inputs: Tensor, params: Tensors | None = None, policy: NormPolicy | None = None
    ) -> Prediction:
        """Predict under ``params`` and ``policy``, or under the stream's own; nothing moves."""


@dataclass(frozen=True)
class Start:
    """What a component may look at when a stream begins."""

    backbone: Backbone
    source: Tensors
    """Source values of the trained parameters, by their full name."""
    num_classes: int
    num_features: int | None
    """Width of the classifier's input, where there is a classifier."""
    sample_shape: tuple[int, ...]
    """Shape of one input, without the batch."""
    device: torch.device
    forward: Forward
    generator: torch.Generator
    backward: Callable[[Tensor], None] = Tensor.backward
    """Adds a loss's gradients to those of the tensors it came from."""


@dataclass(frozen=True)
class Step:
    """What a component may look at while samples pass through."""

    inputs: Tensor
    prediction: Prediction
    forward: Forward
    generator: torch.Generator
    recent: Prediction
    """Predictions of the window so far, this step's last; without a window, this step's."""
    views: Tensors = field(default_factory=dict)
    """By objective: what its ``views`` made of these inputs."""
    targets: dict[str, Tensors] = field(default_factory=dict)
    """By objective: what its ``targets`` worked out of these inputs."""
    passed: dict[int, Prediction] = field(default_factory=dict)
    """Predictions of views that went through the network already."""
    policy: NormPolicy = BATCH
    """Which statistics batch norms use for these samples when they pass the network again."""
    task: Task = CLASSIFICATION
    """Whether logits are of samples or of pixels."""

    @property
    def logits(self) -> Tensor:
        """Logits to learn from, (batch, classes), or of pixels (batch, classes, height, width)."""
        return self.task.learned_from(self.prediction.logits)

    @property
    def features(self) -> Tensor:
        """Input of the classifier, shape (batch, features)."""
        if self.prediction.features is None:
            raise ValueError(
                "the model runs no linear layer whose input could serve as features; "
                f"{NAME_FEATURES}"
            )
        return self.prediction.features

    def forward_view(self, objective: str) -> Prediction:
        """Prediction of an objective's view; objectives that share a view share the pass."""
        view = self.views[objective]
        if id(view) not in self.passed:
            self.passed[id(view)] = self.forward(view)
        return self.passed[id(view)]

    def forward_source(self) -> Prediction:
        """The source model's prediction, normalised as the stream's; made once for all who ask."""
        if SOURCE_PASS not in self.passed:
            with torch.no_grad():
                self.passed[SOURCE_PASS] = self.forward(self.inputs, {})
        return self.passed[SOURCE_PASS]


@lru_cache(maxsize=1024)
def _word(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


@dataclass(frozen=True)
class Component:
    """One idea of a method. Its settings are frozen; its memory belongs to the stream."""

    @property
    def name(self) -> str:
        """The class's name as a word of a spec: ``SourceEnsembling`` is ``source_ensembling``."""
        return _word(type(self).__name__)

    varying_memory: ClassVar[frozenset[str]] = frozenset()
    """Names of memory tensors whose first dimension changes along a stream."""
    pulls_to_source: ClassVar[bool] = False
    """Whether a penalty or parameter rule pulls towards the source; ``SourceTrust`` scales it."""
    later_memory: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType({})
    """Memory tensors that come and go, by name: their shape, in which ``"classes"`` is a size."""

    tells_of_stream: ClassVar[bool] = False
    """Whether memory tells of the stream alone, of its classes and their order, and of no weights:
    then it goes on where a guard takes learned weights back."""

    dense: ClassVar[bool] = False
    """Whether logits may be those of pixels, (batch, classes, height, width)."""
    not_dense: ClassVar[str] = "was written for one prediction per sample"
    """Why not, as the end of a sentence that begins with the component's name."""

    def for_dense(self) -> "Component | None":
        """The component for a segmentation model, where it makes sense: ``dense`` says whether.

        None where the method is better off without it.
        """
        if not self.dense:
            raise ValueError(f"{self.name!r} {self.not_dense}")
        return self

    def new_memory(self, start: Start) -> Tensors:
        """Tensors to carry along a stream; a reset comes back to these.

        Their names, shapes and types stay, but for ``varying_memory`` and ``later_memory``, so
        that a saved state can be checked. A tensor that requires a gradient is trained along with
        the stream's parameters.
        """
        return {}

    def report(self, memory: Tensors) -> Mapping[str, float]:
        """What the component believes of its stream, as numbers with names, for people."""
        return {}


class Recall(Component):
    """Decides which samples updates learn from, in place of those that just came."""

    @abstractmethod
    def recall(self, step: Step, memory: Tensors) -> Iterator[Tensor]:
        """Take in a step's samples; give inputs to learn from each time an update is due."""


class Weighting(Component):
    """Decides how much each sample counts."""

    @abstractmethod
    def weights(self, step: Step, memory: Tensors) -> Tensor:
        """How much each sample counts, shape (batch,); 0 leaves a sample out.

        Of a segmentation model, how much each pixel does, shape (batch, height, width).
        """


class Objective(Component):
    """Something to minimise."""

    rowwise: ClassVar[bool] = False
    """Whether the loss of a sample comes from its own row of the logits, of its view's logits and
    of ``targets`` alone, without memory: then samples of many streams may be shown at once."""

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor | None:
        """Altered copies of the inputs that the loss needs, one for each input, or None.

        Drawn once for all samples of an update, so that micro-batches share one draw.
        """
        return None

    @property
    def shared_view(self) -> object:
        """What makes the views. Objectives where it is equal share one draw; None shares none."""
        return None

    @property
    def views_by_part(self) -> bool:
        """Whether views of some samples are what those of all have for them, given the same random
        state: then an update makes them as it needs them and holds few."""
        return type(self).views is Objective.views

    def targets(self, step: Step, memory: Tensors) -> Tensors:
        """What the loss compares with, one row for each input, worked out without gradients.

        Asked once a batch: before outputs are corrected where the objective is an output rule
        too, otherwise before an update.
        """
        return {}

    @abstractmethod
    def loss(self, step: Step, memory: Tensors) -> Tensor:
        """Loss of each sample that counts, shape (batch,), or of its pixels."""


class Penalty(Component):
    """A price on the parameters themselves."""

    @abstractmethod
    def penalty(self, params: Tensors, source: Tensors, memory: Tensors) -> Tensor:
        """Cost of the parameters, a scalar."""


class ParameterRule(Component):
    """Edits the parameters after each update."""

    def observe(self, losses: Tensor, memory: Tensors) -> None:
        """See the losses that an update is about to learn from, shape (samples that count,), or
        (pixels that count,)."""
        return

    def see_gradients(self, params: Tensors, gradients: Tensors, memory: Tensors) -> None:
        """See the parameters and those gradients that there are, before an optimiser step."""
        return

    @abstractmethod
    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        """Edit the stream's parameters in place, after each optimiser step."""

    def restarts_optimizer(self, memory: Tensors) -> bool:
        """Whether the optimiser forgets its moments; asked after ``after_update``."""
        return False

    def resume(self, params: Tensors, memory: Tensors) -> None:
        """See parameters that somebody else has changed since: a guard that kept part of an
        update. Rules that remember the latest parameters take these."""
        return


class SourceTrust(Component):
    """Decides how strongly the stream is pulled back to the source."""

    @abstractmethod
    def trust(self, memory: Tensors) -> float:
        """Factor on every pull towards the source at the coming update, 0 to 1."""


class OutputRule(Component):
    """Edits what the caller gets."""

    assumes_runs: ClassVar[bool] = False
    """Whether it is right only where classes are correlated in time: then a guard answers without
    it while nothing speaks for that."""

    @abstractmethod
    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        """Logits to hand to the caller, shape (batch, classes)."""


class NormRule(Component):
    """Decides which statistics batch norms use as the stream goes on."""

    @abstractmethod
    def norm(self, policy: NormPolicy, samples: int, memory: Tensors) -> NormPolicy:
        """The policy for a batch of ``samples`` samples, in place of the method's."""


class ResetRule(Component):
    """Decides when a stream begins again."""

    @abstractmethod
    def is_due(self, memory: Tensors) -> bool:
        """Whether to reset now; asked once after each batch or window was there to learn from."""
