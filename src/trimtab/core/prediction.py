"""Predictions of a network: logits and features, of a batch or of samples one by one."""

from typing import NamedTuple

import torch
from torch import Tensor


class Prediction(NamedTuple):
    """Logits (batch, classes) and the classifier's input (batch, features), where it is known.

    Of a segmentation model: logits (batch, classes, height, width), and no features.
    """

    logits: Tensor
    features: Tensor | None

    def rows(self, chosen: Tensor | slice) -> "Prediction":
        """The chosen samples only."""
        features = None if self.features is None else self.features[chosen]
        return Prediction(self.logits[chosen], features)

    def detach(self) -> "Prediction":
        """The same numbers without their graph."""
        features = None if self.features is None else self.features.detach()
        return Prediction(self.logits.detach(), features)

    def compact(self) -> "Prediction":
        """The same numbers to be kept: a transformer's class token holds all tokens otherwise."""
        features = None if self.features is None else _alone(self.features)
        return Prediction(_alone(self.logits), features)


class SeparatePredictions(Prediction):
    """One prediction of samples that passed the network one by one, each with its own graph."""

    parts: list[Prediction]

    @classmethod
    def of(cls, parts: list[Prediction]) -> "SeparatePredictions":
        """The predictions of single samples as one."""
        both = cls(*joined(parts))
        both.parts = parts
        return both

    def rows(self, chosen: Tensor | slice) -> Prediction:
        """The chosen samples only; no gradient goes through the network for the others."""
        if isinstance(chosen, slice) or chosen.dtype == torch.bool or not len(chosen):
            return super().rows(chosen)
        return joined([self.parts[row] for row in chosen.tolist()])


def _alone(values: Tensor) -> Tensor:
    """The values in memory of their own, if they lie in that of something larger."""
    return values if values.untyped_storage().nbytes() <= values.nbytes else values.clone()


def joined(parts: list[Prediction]) -> Prediction:
    """One prediction of all samples; features only where every part has them."""
    logits = torch.cat([part.logits for part in parts])
    features = [part.features for part in parts if part.features is not None]
    return Prediction(logits, torch.cat(features) if len(features) == len(parts) else None)
