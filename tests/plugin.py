"""Things that a plug-in would bring, for tests that name them as ``plugin:NAME``."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from torch import nn

from trimtab.components.entropy import Entropy
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.core.optimizer import OptimizerChoice
from trimtab.streams import LabelledImages
from trimtab.streams.scenario_base import Scenario


def method(*, lr: float = 0.5) -> Method:
    """Entropy minimisation with a learning rate of its own."""
    return Method((Entropy(),), optimizer=OptimizerChoice("sgd", lr))


@dataclass(frozen=True)
class Idea(Component):
    """A component without a role."""

    strength: float = 1.0


@dataclass(frozen=True)
class Backwards(Scenario):
    """Domain after domain, the last one first."""

    word: ClassVar[str] = "backwards"

    def visits(self, names):
        return super().visits(names)[::-1]


def images(*, count: int = 4) -> LabelledImages:
    """Grey images of two classes."""
    return LabelledImages(np.full((count, 8, 8, 3), 128, np.uint8), np.arange(count) % 2)


def model(num_classes: int = 2) -> nn.Module:
    """A linear classifier of images of 8 px a side."""
    return nn.Sequential(nn.Flatten(), nn.LayerNorm(192), nn.Linear(192, num_classes))


NUMBER = 3
SUITE = Path(__file__).with_name("plugin_suite.toml")
