"""Steps for trying components by hand."""

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.component import Component, Start, Step
from trimtab.core.prediction import Prediction


def no_forward(inputs: Tensor, params: object = None, policy: object = None) -> Prediction:
    raise AssertionError("this component should need no further pass")


def step(logits: Tensor, recent: Tensor | None = None) -> Step:
    """A step with these logits and nothing else."""
    prediction = Prediction(logits, None)
    return Step(
        inputs=torch.zeros(len(logits), 1),
        prediction=prediction,
        forward=no_forward,
        generator=torch.Generator(),
        recent=prediction if recent is None else Prediction(recent, None),
    )


def first_memory(component: Component, classes: int) -> Tensors:
    """A component's memory at the start of a stream of so many classes."""
    return component.new_memory(
        Start(
            backbone=Backbone(torch.nn.Identity()),
            source={},
            num_classes=classes,
            num_features=None,
            sample_shape=(classes,),
            device=torch.device("cpu"),
            forward=no_forward,
            generator=torch.Generator(),
        )
    )
