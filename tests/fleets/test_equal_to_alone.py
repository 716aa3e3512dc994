"""Streams that step together come to where they come to alone."""

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import learners, rotated
from fleets.alone import SIZES, batches, gap_of_states, trained_by_sgd
from reference import nets
from trimtab.core.method import Method

STEPS = 3
FAST = 0.01
"""A learning rate that moves parameters visibly in few steps."""


def largest_gap_along_a_stream(model: nets.Net, method: Method, images: Tensor) -> float:
    """Between outputs, and states at the end, of a fleet and of streams alone."""
    backbone = trimtab.Backbone(model)
    fleet = trimtab.fleet(backbone, method)
    alone = {name: method.start(backbone, seed=fleet[name].seed) for name in SIZES}
    gaps = []
    for step in batches(images, STEPS):
        together = fleet.step(step)
        for name, batch in step.items():
            found = together[name]
            assert isinstance(found, Tensor), found
            gaps.append(float((found - alone[name](batch)).abs().max()))
    return max(*gaps, *(gap_of_states(fleet[name], alone[name]) for name in SIZES))


@pytest.mark.parametrize("method", trimtab.METHODS)
def test_every_method_comes_to_the_same_in_double_precision(
    method: str, norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    recipe = trained_by_sgd(method, recorded, FAST)
    model = nets.trained(norm, recorded).double()
    assert largest_gap_along_a_stream(model, recipe, images.double()) < 1e-9


@pytest.mark.parametrize("method", trimtab.METHODS)
def test_every_method_comes_to_the_same_in_single_precision(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    recipe = trained_by_sgd(method, recorded)
    model = nets.trained(rotated(method), recorded)
    assert largest_gap_along_a_stream(model, recipe, images) < 1e-5


@pytest.mark.parametrize("method", learners())
def test_streams_that_step_together_do_learn(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained(rotated(method), recorded)
    fleet = trimtab.fleet(model, trained_by_sgd(method, recorded, FAST))
    for step in batches(images, STEPS):
        fleet.step(step)
    adapters = [fleet[name] for name in SIZES]
    for adapter in adapters:
        moved = any(not torch.equal(p, adapter.source[key]) for key, p in adapter.params.items())
        goes_back = method == "memo"  # each batch begins at the source again
        assert moved == (adapter.counters.updates > 0 and not goes_back)


def test_streams_of_all_sorts_step_at_once(
    norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained(norm, recorded).double())
    kinds: dict[str, tuple[str, dict[str, object]]] = {
        "cotta": ("cotta", {}),
        "frozen": ("source", {}),
        "single": ("roid", {"window": 4, "optimizer": "sgd"}),
        "small steps": ("roid", {"micro_batch": 2, "optimizer": "sgd"}),
        "thrifty": ("roid", {"budget": 1.5, "optimizer": "sgd"}),
        "twice": ("sar", {"lr": 0.01}),
        "two": ("tent", {"optimizer": "sgd", "lr": 0.01}),
    }
    sizes = {"single": 1, "two": 2}
    fleet = trimtab.fleet(backbone, "source")
    alone = {}
    for name, (method, options) in kinds.items():
        adapter = fleet.open(name, method, **options)
        alone[name] = trimtab.adapt(backbone, method, seed=adapter.seed, **options)  # type: ignore[arg-type]
    for number in range(4):
        here = images[number * 8 :].double()
        step = {name: here[: sizes.get(name, 5)] for name in kinds}
        found = fleet.step(step, predict_only=["twice"] if number == 2 else [])
        for name, batch in step.items():
            call = alone[name].predict if (name, number) == ("twice", 2) else alone[name]
            assert isinstance(found[name], Tensor), found[name]
            torch.testing.assert_close(found[name], call(batch), rtol=0, atol=1e-9)
    for name, adapter in alone.items():
        assert gap_of_states(fleet[name], adapter) < 1e-9


def test_half_precision_networks_come_to_nearly_the_same(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded).to(torch.float16)
    gap = largest_gap_along_a_stream(model, trained_by_sgd("tent", recorded), images.half())
    assert gap < 5e-3


def test_large_images_of_a_transformer_pass_one_by_one_and_come_to_the_same(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    large = images.double().repeat_interleave(5, 2).repeat_interleave(5, 3)
    model = nets.trained("ln", recorded).double()
    assert largest_gap_along_a_stream(model, trained_by_sgd("roid", recorded), large) < 1e-9
