"""What is merged, what is not, and that a merged pass that fails hurts nobody."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.core import joint
from trimtab.core.moves import Move, move, move_together
from trimtab.core.optimizer import OptimizerChoice
from trimtab.core.rows import Rows


def counted(backbone: trimtab.Backbone) -> list[int]:
    """The sizes of all batches that pass the network from now on."""
    sizes: list[int] = []
    backbone.model.register_forward_pre_hook(lambda _, args: sizes.append(len(args[0])))
    return sizes


def test_a_step_of_many_streams_takes_as_many_passes_as_one(
    norm: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained(norm, recorded))
    fleet = trimtab.fleet(backbone, "tent")
    batches = {f"s{i}": images[2 * i : 2 * i + 2] for i in range(8)}
    fleet.step(batches)
    sizes = counted(backbone)
    fleet.step(batches)
    assert sizes == [16]


def test_groups_hold_few_enough_samples(recorded: dict[str, Tensor], images: Tensor) -> None:
    backbone = trimtab.Backbone(nets.trained("gn", recorded))
    fleet = trimtab.fleet(backbone, "tent", samples_at_once=5)
    batches = {f"s{i}": images[2 * i : 2 * i + 2] for i in range(5)} | {"t": images[:7]}
    fleet.step(batches)
    sizes = counted(backbone)
    fleet.step(batches)
    assert sizes == [4, 4, 2, 7]


class TokensFirst(nn.Module):
    """A network whose norm layer sees tokens in its first dimension."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.head = nn.LayerNorm(8), nn.Linear(8, 5)

    def forward(self, x: Tensor) -> Tensor:
        tokens = x.flatten(1).unflatten(1, (-1, 8)).transpose(0, 1)
        return self.head(self.norm(tokens).mean(0))  # type: ignore[no-any-return]


class MixesSamples(nn.Module):
    """A network whose samples look at each other."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.head = nn.LayerNorm(48), nn.Linear(48, 5)

    def forward(self, x: Tensor) -> Tensor:
        flat = self.norm(x.flatten(1))
        return self.head(flat - flat.mean(0))  # type: ignore[no-any-return]


class OwnNorm(nn.LayerNorm):
    """A norm layer with a forward of its own."""

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        return super().forward(input.flip(-1))


@pytest.mark.parametrize(
    "make",
    [TokensFirst, MixesSamples, lambda: nn.Sequential(nn.Flatten(), OwnNorm(48), nn.Linear(48, 5))],
)
def test_networks_that_cannot_be_merged_are_stepped_one_by_one(
    make: Callable[[], nn.Module],
) -> None:
    torch.manual_seed(0)
    backbone = trimtab.Backbone(make().double())
    fleet = trimtab.fleet(backbone, "tent", optimizer="sgd", lr=0.1)
    names = [f"s{i}" for i in range(6)]
    alone = {
        name: trimtab.adapt(backbone, "tent", optimizer="sgd", lr=0.1, seed=fleet[name].seed)
        for name in names
    }
    for _ in range(3):
        batches = {name: torch.randn(1, 3, 4, 4).double() for name in names}
        found = fleet.step(batches)
        for name in names:
            torch.testing.assert_close(found[name], alone[name](batches[name]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("verb", ["forward", "backward"])
def test_a_merged_pass_that_fails_is_made_one_by_one(
    verb: str,
    norm: str,
    recorded: dict[str, Tensor],
    images: Tensor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backbone = trimtab.Backbone(nets.trained(norm, recorded))
    fleet = trimtab.fleet(backbone, "tent", optimizer="sgd")
    batches = {"a": images[:2], "b": images[2:4]}
    alone = {
        name: trimtab.adapt(backbone, "tent", optimizer="sgd", seed=fleet[name].seed)
        for name in batches
    }
    fleet.step(batches)
    for name, batch in batches.items():
        alone[name](batch)

    def fails(*_: object) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(joint, verb, fails)
    found = fleet.step(batches)
    for name, batch in batches.items():
        torch.testing.assert_close(found[name], alone[name](batch), rtol=0, atol=1e-5)
        assert fleet[name].counters == alone[name].counters


def test_a_row_for_each_sample_is_that_of_its_stream() -> None:
    rows = Rows((2, 1, 3), (), ())
    stacked = torch.tensor([[1.0], [2.0], [3.0]])
    assert rows.of_each_sample(stacked).flatten().tolist() == [1, 1, 2, 3, 3, 3]


@pytest.mark.parametrize("decay", [0.0, 0.01])
@pytest.mark.parametrize("momentum", [0.9, 0.0])
@pytest.mark.parametrize("kind", ["adam", "sgd"])
def test_many_streams_move_as_each_does_alone(kind: str, momentum: float, decay: float) -> None:
    torch.manual_seed(0)
    choice = OptimizerChoice(kind, 0.1, momentum=momentum, weight_decay=decay)  # type: ignore[arg-type]
    shapes = [(3,), (2, 2), (4,)]
    values = [[torch.randn(s).double().requires_grad_() for s in shapes] for _ in range(3)]
    single, many = (
        [{"tensors": list(tensors), "moments": {}} for tensors in values] for _ in range(2)
    )
    for number in range(4):
        chosen = [place for place in range(3) if (place + number) % 3]  # counts of steps differ
        grads = [[torch.randn(s).double() for s in shapes] for _ in chosen]
        for streams in (single, many):
            for place, own in zip(chosen, grads, strict=True):
                for tensor, grad in zip(streams[place]["tensors"], own, strict=True):
                    tensor.grad = grad.clone()
        asked = [
            [Move(choice, s[p]["tensors"], s[p]["moments"], (3,), 0.5 + p) for p in chosen]  # type: ignore[arg-type]
            for s in (single, many)
        ]
        for place, one, other in zip(
            chosen, map(move, asked[0]), move_together(asked[1]), strict=True
        ):
            assert one is not None
            assert other is not None
            single[place] = {"tensors": one.tensors, "moments": one.moments}  # type: ignore[dict-item]
            many[place] = {"tensors": other.tensors, "moments": other.moments}  # type: ignore[dict-item]
            torch.testing.assert_close(other.tensors, one.tensors, rtol=0, atol=1e-12)
            torch.testing.assert_close(
                {k: dict(v) for k, v in other.moments.items()},
                {k: dict(v) for k, v in one.moments.items()},
                rtol=0,
                atol=1e-12,
            )


def test_gradients_that_are_not_finite_move_nothing_of_their_stream_only() -> None:
    values = [torch.ones(3, requires_grad=True) for _ in range(3)]
    for value, grad in zip(values, (1.0, torch.nan, 1e38), strict=True):
        value.grad = torch.full((3,), grad)
    choice = OptimizerChoice("sgd", 10.0)
    sound, broken, overflown = move_together([Move(choice, [v], {}, (3,)) for v in values])
    assert broken is None
    assert sound is not None
    assert sound.finite
    assert overflown is not None
    assert not overflown.finite
