"""Every component fits every method that learns."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import component, full_batch, learners, options_of, rotated
from reference import nets
from trimtab.core.component import Recall
from trimtab.core.learner import Learner


def continued(
    adapter: trimtab.Adapter, other: trimtab.Adapter, images: Tensor, size: int = 12
) -> bool:
    """Run two batches of a stream, hand it over, and see whether both go on alike."""
    batches = images.split(size)
    for batch in batches[:2]:
        assert adapter(batch).isfinite().all()
    other.load_state_dict(adapter.state_dict())
    return torch.equal(adapter(batches[2]), other(batches[2]))


def pairs() -> list[Any]:
    """Methods that learn with components they may be given; some of the pairs are quick.

    Methods with a loop of their own meet every component. The others are themselves sets of
    components in one and the same loop: each meets every other component, so that a component
    meets every other one of them.
    """
    own = {method for method in learners() if has_a_loop_of_its_own(method)}
    assert len(own) >= 5
    return [
        pytest.param(method, addition, marks=() if (row + column) % 10 == 0 else pytest.mark.slow)
        for row, method in enumerate(learners())
        for column, addition in enumerate(trimtab.COMPONENTS)
        if method in own or (row + column) % 2 == 0
    ]


def has_a_loop_of_its_own(method: str) -> bool:
    options = {"source_data": [()]} if method == "eata" else {}
    return type(trimtab.build(method, **options).learner) is not Learner


@pytest.mark.parametrize(("method", "addition"), pairs())
def test_every_component_composes_with_every_method_that_learns(
    method: str, addition: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    options, idea = options_of(method, recorded), component(addition, recorded)
    if method == "memo" and isinstance(idea, Recall):
        pytest.skip("each image is forgotten, so none can be recalled")
    backbone = trimtab.Backbone(nets.trained(rotated(method, addition), recorded))
    recipe = trimtab.build(method, **options).plus(idea)
    adapter, other = (trimtab.adapt(backbone, recipe, seed=seed) for seed in (0, 1))
    assert continued(adapter, other, images, full_batch(method) * 3 // 4)
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
