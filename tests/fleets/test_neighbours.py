"""Whatever its neighbours send, a stream's outputs change by no more than rounding."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from same import assert_same
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, OutputRule, Step

STEPS = 3


def wild(kind: str, batch: Tensor) -> object:
    """What a careless or hostile neighbour may send."""
    return {
        "nothing": None,
        "nan": torch.full_like(batch, torch.nan),
        "one nan": batch.index_fill(0, torch.tensor([0]), torch.inf),
        "huge": batch * 1e30,
        "just finite": torch.full_like(batch, torch.finfo(batch.dtype).max),
        "other shape": batch[:, :, :8, :8],
        "other channels": batch[:, :1],
        "other type": batch.half(),
        "many": batch.repeat(9, 1, 1, 1),
        "empty": batch[:0],
        "no tensor": "boo",
    }[kind]


KINDS = (
    "nan",
    "one nan",
    "huge",
    "just finite",
    "other shape",
    "other channels",
    "other type",
    "many",
    "empty",
    "no tensor",
)


@pytest.mark.parametrize("method", ["tent", "roid", "bn_ema", "rotta"])
def test_neighbours_change_no_output_beyond_rounding(
    method: str, norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained(norm, recorded)
    options: dict[str, Any] = {} if method == "bn_ema" else {"optimizer": "sgd"}
    quiet = trimtab.fleet(model, method, **options)
    loud = trimtab.fleet(model, method, **options)
    for number in range(STEPS):
        calm = {name: images[8 * number + i :][:4] for i, name in enumerate(("x", "y"))}
        rude = {f"{kind} {number}": wild(kind, images[:4]) for kind in KINDS}
        rude |= {kind: wild(kind, images[:4]) for kind in KINDS}
        expected, found = quiet.step(calm), loud.step(calm | rude)  # type: ignore[arg-type, operator]
        for name in calm:
            torch.testing.assert_close(found[name], expected[name], rtol=0, atol=1e-5)
        assert isinstance(found["nan"], trimtab.StreamError)
        assert isinstance(found["no tensor"], trimtab.StreamError)
    for name in ("x", "y"):
        assert loud[name].counters == quiet[name].counters


@pytest.mark.parametrize("norm", ["bn"])
@pytest.mark.parametrize("method", ["roid", "trimtab", "sar"])
def test_the_order_of_batches_does_not_matter_to_the_last_bit(
    method: str, norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained(norm, recorded)
    fleets = [trimtab.fleet(model, method, seed=3) for _ in range(2)]
    for number in range(STEPS):
        batches = {f"cam-{i}": images[10 * number + i :][: 1 + i] for i in range(5)}
        backwards = dict(reversed(batches.items()))
        one, other = fleets[0].step(batches), fleets[1].step(backwards)
        assert list(one) == list(batches)
        assert list(other) == list(backwards)
        assert_same({name: one[name] for name in batches}, {name: other[name] for name in batches})
    for name in fleets[0]:
        assert_same(fleets[0][name].state_dict(), fleets[1][name].state_dict())


@dataclass(frozen=True)
class Raises(OutputRule):
    """Fails from its second batch on."""

    def new_memory(self, start: object) -> Tensors:
        return {"batches": torch.zeros(())}

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        memory["batches"].add_(1)
        step.forward(step.inputs)
        if memory["batches"] > 1:
            raise LookupError("a component's own mistake")
        return logits


@dataclass(frozen=True)
class NotFinite(Objective):
    """A loss that is not finite."""

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        return step.logits.sum(1) * torch.inf


def test_an_exception_in_a_component_is_its_streams_only(
    norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained(norm, recorded))
    fleet = trimtab.fleet(backbone, "tent", optimizer="sgd")
    fleet.open("broken", trimtab.build("tent").plus(Raises()))
    alone = trimtab.adapt(backbone, "tent", optimizer="sgd", seed=fleet["sound"].seed)
    assert isinstance(fleet.step({"broken": images[:4], "sound": images[4:8]})["broken"], Tensor)
    alone(images[4:8])
    before = fleet["broken"].state_dict()
    found = fleet.step({"broken": images[:4], "sound": images[8:12]})
    error = found["broken"]
    assert isinstance(error, trimtab.StreamError)
    assert isinstance(error.error, LookupError)
    assert error.stream == "broken"
    assert "a component's own mistake" in str(error)
    assert_same(fleet["broken"].state_dict(), before)
    torch.testing.assert_close(found["sound"], alone(images[8:12]), rtol=0, atol=1e-5)


def test_a_loss_that_is_not_finite_skips_its_streams_update_only(
    norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained(norm, recorded), "tent")
    fleet.open("odd", trimtab.build("tent").plus(NotFinite()))
    for number in range(2):
        found = fleet.step({"odd": images[:4], "sound": images[4 * number :][:4]})
        assert all(isinstance(logits, Tensor) for logits in found.values())
    assert fleet["odd"].counters.updates == 0
    assert fleet["odd"].counters.skipped_updates == 2
    assert fleet["sound"].counters.updates == 2


def test_a_stream_whose_first_batch_is_refused_was_never_opened(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    fleet.step({"good": images[:4], "bad": images[:4] * torch.nan})
    assert list(fleet) == ["good"]


def test_no_gradient_mode_of_the_caller_is_changed_or_matters(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    batches = {"a": images[:2], "b": images[2:4]}
    outputs = []
    for mode in (torch.no_grad, torch.enable_grad, torch.inference_mode):
        fleet = trimtab.fleet(model, "roid")
        with mode():
            before = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
            outputs.append(fleet.step(batches) | fleet.step(batches))
            assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == before
        assert fleet["a"].counters.updates == 2
    for other in outputs[1:]:
        assert_same(outputs[0], other)
