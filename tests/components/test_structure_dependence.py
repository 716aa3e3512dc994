"""Samples that are recognised by their structure count."""

from dataclasses import replace
from math import exp, log

import pytest
import torch
from torch import Tensor

from components.steps import step
from trimtab.components.structure_dependence import StructureDependence
from trimtab.core.component import Step
from trimtab.core.prediction import Prediction

CERTAIN, UNSURE = [9.0, 0.0, 0.0, 0.0], [0.1, 0.0, 0.0, 0.0]
LOGITS = torch.tensor([CERTAIN, UNSURE, CERTAIN, CERTAIN])


def step_whose_destroyed_logits_are(destroyed: Tensor, logits: Tensor = LOGITS) -> Step:
    """Inputs are their own row numbers, so that a pass can tell which samples it is given."""

    def forward(inputs: Tensor, params: object = None) -> Prediction:
        return Prediction(destroyed[inputs[:, 0].long()], None)

    rows = torch.arange(float(len(logits)))[:, None]
    return replace(step(logits), inputs=rows, forward=forward)  # type: ignore[arg-type]


def unchanged(inputs: Tensor, generator: torch.Generator) -> Tensor:
    return inputs


def test_a_kept_sample_weighs_by_certainty_and_by_its_drop() -> None:
    destroyed = torch.tensor([[0.0] * 4, [0.0] * 4, CERTAIN, [0.5, 0.0, 0.0, 0.0]])
    rule = StructureDependence(destroy=unchanged)
    weights = rule.weights(step_whose_destroyed_logits_are(destroyed), {})
    probs, after = LOGITS.softmax(1)[0].tolist(), destroyed.softmax(1)
    certainty = exp(0.4 * log(4) + sum(p * log(p) for p in probs))
    drops = [probs[0] - float(after[row, 0]) for row in (0, 3)]
    first, last = ((certainty + exp(drop)) * 4 / 2 for drop in drops)  # two of four are kept
    torch.testing.assert_close(weights, torch.tensor([first, 0, 0, last]))


def test_only_certain_samples_are_destroyed() -> None:
    seen = []

    def noting(inputs: Tensor, generator: torch.Generator) -> Tensor:
        seen.extend(inputs[:, 0].tolist())
        return inputs

    StructureDependence(destroy=noting).weights(
        step_whose_destroyed_logits_are(torch.zeros(4, 4)), {}
    )
    assert seen == [0, 2, 3]


def test_without_certain_samples_there_is_no_further_pass() -> None:
    weights = StructureDependence(destroy=unchanged).weights(step(torch.zeros(3, 4)), {})
    assert weights.tolist() == [0, 0, 0]


def test_a_class_that_survives_leaves_every_weight_zero() -> None:
    weights = StructureDependence(destroy=unchanged).weights(
        step_whose_destroyed_logits_are(LOGITS), {}
    )
    assert weights.tolist() == [0, 0, 0, 0]


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match=r"min_drop must lie in \[-1, 1\], got 2"):
        StructureDependence(min_drop=2)
