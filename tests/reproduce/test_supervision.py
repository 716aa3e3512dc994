"""Fine-tuning with labels."""

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn.functional import cross_entropy

from reference import nets
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.component import Component, Step, Weighting
from trimtab.core.method import Method
from trimtab.core.optimizer import OptimizerChoice
from trimtab.reproduce.supervision import Answers, Supervision


@dataclass(frozen=True)
class EverySecond(Weighting):
    """Leaves out every other sample."""

    def weights(self, step: Step, memory: Tensors) -> Tensor:
        return torch.arange(len(step.inputs)) % 2.0


@pytest.mark.parametrize("rest", [(), (EverySecond(),)])
def test_an_update_is_a_plain_step_on_the_cross_entropy_of_the_samples_that_count(
    rest: tuple[Component, ...], recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("ln", recorded).eval()
    labels = torch.arange(16) % model(images[:1]).shape[1]
    choice = OptimizerChoice("sgd", 0.1, momentum=0.0)
    method = Method((Supervision(Answers(labels)), *rest), optimizer=choice)
    adapter = method.start(Backbone(model))
    adapter(images[:16])
    params = {name: value.clone().requires_grad_() for name, value in adapter.source.items()}
    losses = cross_entropy(functional_call(model, params, (images[:16],)), labels, reduction="none")
    (losses[1::2] if rest else losses).sum().div(16).backward()
    for name, param in params.items():
        assert param.grad is not None
        assert torch.allclose(adapter.params[name], param - 0.1 * param.grad, atol=1e-6)
