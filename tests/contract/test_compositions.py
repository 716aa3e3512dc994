"""ROID's ideas fit every method that learns, and LAME's fits every method."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets

SOURCE_IMAGES = torch.rand(8, 3, 16, 16, generator=torch.Generator().manual_seed(0))
OPTIONS: dict[str, Any] = {
    "cotta": {"views": 3},
    "eata": {"source_data": [SOURCE_IMAGES]},
    "memo": {"views": 3},
}
ADDITIONS = (
    "certainty_diversity",
    "source_ensembling(momentum=0.99)",
    "prior_correction",
    "soft_likelihood_ratio",
    "augmentation_consistency",
    "laplacian",
    "periodic_reset(every=2)",
    "recovery",
    "temporal_prior(stored_samples=6.0)",
    "view_temperature",
    "cautious_updates",
)


def learners() -> list[str]:
    built = {name: trimtab.build(name, **OPTIONS.get(name, {})) for name in trimtab.METHODS}
    backbone = trimtab.Backbone(nets.net("bn"))
    return [name for name, method in built.items() if method.start(backbone).learns]


def continued(adapter: trimtab.Adapter, other: trimtab.Adapter, images: Tensor) -> bool:
    """Run half of a stream, hand it over, and see whether both go on alike."""
    halves = images.split(12)
    for batch in halves[:3]:
        assert adapter(batch).isfinite().all()
    other.load_state_dict(adapter.state_dict())
    return all(torch.equal(adapter(batch), other(batch)) for batch in halves[3:6])


@pytest.mark.parametrize("norm", ["bn", "ln"])
@pytest.mark.parametrize("addition", ADDITIONS)
@pytest.mark.parametrize("method", learners())
def test_additions_compose_with_every_method_that_learns(
    method: str, addition: str, model: nets.Net, images: Tensor
) -> None:
    backbone, options = trimtab.Backbone(model), OPTIONS.get(method, {})
    adapter, other = (
        trimtab.adapt(backbone, f"{method} + {addition}", seed=seed, **options) for seed in (0, 1)
    )
    assert continued(adapter, other, images)
    assert all(p.isfinite().all() for p in adapter.params.values())


@pytest.mark.parametrize("window", [None, 8])
@pytest.mark.parametrize(
    "spec",
    [
        "tent + certainty_diversity + source_ensembling(momentum=0.99) + prior_correction",
        "roid + laplacian",
        "source + laplacian(affinity='knn')",
        "bn_alpha + entropy + reliable_samples",
    ],
)
def test_longer_compositions_work(
    spec: str, window: int | None, model: nets.Net, images: Tensor
) -> None:
    backbone = trimtab.Backbone(model)
    adapter, other = (trimtab.adapt(backbone, spec, window=window) for _ in range(2))
    assert continued(adapter, other, images)


def test_laplacian_smooths_what_roid_returns(model: nets.Net, images: Tensor) -> None:
    plain, smooth = trimtab.adapt(model, "roid"), trimtab.adapt(model, "roid + laplacian")
    left, right = plain(images[:32]), smooth(images[:32])
    assert not torch.allclose(left.softmax(1), right.softmax(1))
    torch.testing.assert_close(right.exp().sum(1), torch.ones(32))
    # An output rule changes what the caller gets, never what is learned.
    assert all(torch.equal(p, smooth.params[name]) for name, p in plain.params.items())
