"""Staying where the source model agrees."""

from dataclasses import replace

import torch
from torch import Tensor

from components.steps import step
from trimtab.components.source_anchor import SourceAnchor
from trimtab.core.backbone import Tensors
from trimtab.core.prediction import Prediction


def test_the_loss_is_the_sources_cross_entropy_against_both_views() -> None:
    logits, view, anchor = torch.randn(3, 4, 5)
    rule = SourceAnchor()
    seen = replace(
        step(logits),
        forward=lambda inputs, params=None: Prediction(view, None),  # type: ignore[arg-type]
        views={rule.name: torch.zeros(4, 1)},
        targets={rule.name: {"logits": anchor}},
    )
    log_source = anchor.log_softmax(1)
    expected = -0.5 * ((logits.softmax(1) + view.softmax(1)) * log_source).sum(1)
    torch.testing.assert_close(rule.loss(seen, {}), expected)


def test_the_source_model_is_the_backbone_without_parameters_of_the_stream() -> None:
    given: list[Tensors | None] = []

    def forward(inputs: Tensor, params: Tensors | None = None) -> Prediction:
        given.append(params)
        return Prediction(inputs, None)

    seen = replace(step(torch.zeros(2, 1)), forward=forward)  # type: ignore[arg-type]
    assert torch.equal(SourceAnchor().targets(seen, {})["logits"], seen.inputs)
    assert given == [{}]
