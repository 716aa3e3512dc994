"""Pulling weights back to the source."""

import pytest
import torch

from trimtab.components.source_ensembling import SourceEnsembling


def test_the_distance_to_the_source_shrinks_by_the_momentum() -> None:
    source = {"w": torch.tensor([1.0, -2.0])}
    params = {"w": torch.tensor([2.0, 0.0])}
    SourceEnsembling(0.9).after_update(params, source, {})
    torch.testing.assert_close(params["w"] - source["w"], torch.tensor([0.9, 1.8]))


def test_momentum_must_be_a_share() -> None:
    with pytest.raises(ValueError, match=r"momentum must lie in \[0, 1\], got 1.5"):
        SourceEnsembling(1.5)
