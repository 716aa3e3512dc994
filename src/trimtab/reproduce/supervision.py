"""Supervised fine-tuning, for comparison alone: no method of the package ever sees a label."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Step


@dataclass
class Answers:
    """The labels of the batch that comes next, to be set before each one."""

    labels: Tensor = field(default_factory=lambda: torch.empty(0, dtype=torch.long))


@dataclass(frozen=True)
class Supervision(Objective):
    """Fine-tuning: make the true classes more likely."""

    answers: Answers

    def targets(self, step: Step, memory: Tensors) -> Tensors:
        return {"labels": self.answers.labels.to(step.inputs.device)}

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        return cross_entropy(step.logits, step.targets[self.name]["labels"], reduction="none")
