"""Losses of many streams taken as one: which may be, that they are, that failures stay apart."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import component
from reference import nets
from trimtab.core.component import Objective, Step
from trimtab.core.flat import Flat, row_of
from trimtab.core.prediction import Prediction
from trimtab.fleets import lessons
from trimtab.functional import entropy

CLASSES = 7


def seen(rows: slice) -> Step:
    """Samples with all that a loss of each sample's own may look at, under any objective's name."""
    generator = torch.Generator().manual_seed(0)
    logits, view, target = (
        torch.randn(6, CLASSES, generator=generator, dtype=torch.double)[rows] for _ in range(3)
    )
    names = list(trimtab.COMPONENTS)
    return Step(
        inputs=torch.empty(0),
        prediction=Prediction(logits, None),
        forward=refuse,
        generator=generator,
        recent=Prediction(logits, None),
        views=dict.fromkeys(names, view),
        targets={name: {"logits": target} for name in names},
        passed={id(view): Prediction(view, None)},
    )


def refuse(*_: object, **__: object) -> Prediction:
    raise AssertionError("a loss of each sample's own makes no passes")


def rowwise(recorded: dict[str, Tensor]) -> list[Objective]:
    ideas = (component(name, recorded) for name in trimtab.COMPONENTS)
    return [idea for idea in ideas if isinstance(idea, Objective) and idea.rowwise]


def test_losses_that_say_so_are_each_samples_own(recorded: dict[str, Tensor]) -> None:
    found = rowwise(recorded)
    assert len(found) >= 5
    for objective in found:
        whole = objective.loss(seen(slice(0, 6)), {})
        parts = [objective.loss(seen(rows), {}) for rows in (slice(0, 1), slice(1, 4), slice(4, 6))]
        torch.testing.assert_close(whole, torch.cat(parts), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ["tent", "roid"])
def test_losses_of_all_streams_are_taken_in_one_call(
    method: str, recorded: dict[str, Tensor], images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    descend = lessons.descend
    monkeypatch.setattr(lessons, "descend", lambda own: taken.append(len(own)) or descend(own))
    fleet = trimtab.fleet(nets.trained("gn", recorded), method)
    fleet.step({f"s{i}": images[i : i + 1] for i in range(8)})
    assert taken == [8]


@dataclass(frozen=True)
class AfraidOfTheDark(Objective):
    """Entropy, but for black images, which cost what no number is."""

    rowwise: ClassVar[bool] = True

    def targets(self, step: Step, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        return {"black": step.inputs.flatten(1).amax(1) == 0}

    def loss(self, step: Step, memory: dict[str, Tensor]) -> Tensor:
        black = step.targets[self.name]["black"]
        return entropy(step.logits).masked_fill(black, float("nan"))


def test_a_loss_that_is_not_finite_stops_its_own_stream_alone(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), trimtab.Method((AfraidOfTheDark(),)))
    fleet.step({"a": images[:1], "b": torch.zeros_like(images[:1]), "c": images[1:2]})
    streams = [fleet[name] for name in "abc"]
    assert [stream.counters.skipped_updates for stream in streams] == [0, 1, 0]
    assert [stream.counters.updates for stream in streams] == [1, 0, 1]
    moved = [
        any(not torch.equal(p, stream.source[name]) for name, p in stream.params.items())
        for stream in streams
    ]
    assert moved == [True, False, True]


def test_parameters_lie_in_one_row_until_a_tensor_is_exchanged(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    fleet = trimtab.fleet(nets.trained("gn", recorded), "tent")
    fleet.step(dict.fromkeys("ab", images[:2]))
    params = fleet["a"].params
    row = row_of(params)
    assert row is not None
    assert torch.equal(row, torch.cat([p.detach() for p in params.values()]))
    with torch.no_grad():
        next(iter(params.values())).add_(1)
    assert torch.equal(row, torch.cat([p.detach() for p in params.values()]))
    twin = params.copy()
    assert isinstance(twin, Flat)
    twin[next(iter(twin))] = torch.zeros(1)
    assert row_of(twin) is None
    assert row_of(params) is row
    assert row_of(dict(params)) is None


def test_a_stream_whose_passes_were_merged_in_part_has_all_of_its_gradients(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    """Its last micro-batch passes alone, when no other stream has anything left."""
    backbone = trimtab.Backbone(nets.trained("gn", recorded).double())
    fleet = trimtab.fleet(backbone, "roid", optimizer="sgd", lr=0.01)
    fleet.open("long", micro_batch=2)
    alone = trimtab.adapt(
        backbone, "roid", optimizer="sgd", lr=0.01, micro_batch=2, seed=fleet["long"].seed
    )
    for first in (0, 8):
        batch = images[first : first + 5].double()
        found = fleet.step({"long": batch, "short": batch[:2]})["long"]
        torch.testing.assert_close(found, alone(batch), rtol=0, atol=1e-9)
    for name, param in alone.params.items():
        torch.testing.assert_close(fleet["long"].params[name], param, rtol=0, atol=1e-9)
