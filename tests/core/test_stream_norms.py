"""Batch norms of several streams at once come to what each comes to alone."""

import pytest
import torch
from torch import Tensor, nn

from trimtab.core.backbone import Backbone
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, blend, running, tracking
from trimtab.core.rows import Rows

SIZES = (3, 1, 4)
NAMES = ("0.weight", "0.bias")
STATISTICS = ("0.running_mean", "0.running_var")


class Doubled(nn.BatchNorm2d):
    """A batch norm that does something of its own."""

    def forward(self, x: Tensor) -> Tensor:
        return 2 * super().forward(x)


def backbone(kind: type[nn.BatchNorm2d] = nn.BatchNorm2d) -> Backbone:
    return Backbone(nn.Sequential(kind(4), nn.Flatten()).double())


def streams(kept: bool) -> list[dict[str, Tensor]]:
    """Parameters of three streams, and statistics where they keep any."""
    torch.manual_seed(0)
    own = [{name: torch.randn(4).double().requires_grad_() for name in NAMES} for _ in SIZES]
    for stream in own if kept else []:
        stream |= {name: torch.rand(4).double() + 0.5 for name in STATISTICS}
    return own


def part(stream: dict[str, Tensor], names: tuple[str, ...]) -> dict[str, Tensor]:
    return {name: stream[name] for name in names if name in stream}


def each_alone(whole: Backbone, x: Tensor, own: list[dict[str, Tensor]], policies: list) -> Tensor:  # type: ignore[type-arg]
    return torch.cat(
        [
            whole(images, part(stream, NAMES), part(stream, STATISTICS) or None, policy).logits
            for images, stream, policy in zip(x.split(SIZES), own, policies, strict=True)
        ]
    )


def together(whole: Backbone, x: Tensor, own: list[dict[str, Tensor]], policies: list) -> Tensor:  # type: ignore[type-arg]
    stacked = {name: torch.stack([stream[name] for stream in own]) for name in NAMES}
    rows = Rows(SIZES, tuple(policies), tuple(part(stream, STATISTICS) for stream in own))
    return whole.jointly(x, stacked, rows).logits


ALIKE = {
    "stored": [SOURCE] * 3,
    "of the batch": [BATCH] * 3,
    "of the batch, kept": [NormPolicy(1.0, keep_weight=0.1)] * 3,
    "as constants": [NormPolicy(0.4, differentiable=False, unbiased=True)] * 3,
    "of some, with medians": [SOURCE, NormPolicy(1.0, median=True, differentiable=False), SOURCE],
    "of some, as constants": [NormPolicy(0.7, mixture=True, differentiable=False), SOURCE, SOURCE],
}
UNLIKE = {
    "one of the batch": [SOURCE, BATCH, SOURCE],
    "gradients through a blend": [blend(0.3), SOURCE, blend(0.6)],
}
KEPT = {
    "tracked": [tracking(8, 3), tracking(8, 1), tracking(8, 4)],
    "one more slowly": [running(0.2), NormPolicy(0.5, keep_weight=0.1, mixture=True), running(0)],
}


def inputs(side: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(sum(SIZES), 4, side, side, generator=generator, dtype=torch.float64) + 1
    return x.to(memory_format=torch.channels_last).requires_grad_()


@pytest.mark.parametrize("side", [1, 5])
@pytest.mark.parametrize("kind", ALIKE | UNLIKE)
def test_outputs_and_gradients_are_those_of_each_alone(kind: str, side: int) -> None:
    results = []
    for run in (each_alone, together):
        x, own, policies = inputs(side), streams(False), (ALIKE | UNLIKE)[kind]
        if kind == "of the batch, kept":
            own = streams(True)
        output = run(backbone(), x, own, policies)
        (output * torch.arange(output.numel()).view_as(output)).sum().backward()
        kept = [stream[name] for stream in own for name in STATISTICS if name in stream]
        results.append([output, x.grad, *(s[name].grad for s in own for name in NAMES), *kept])
    torch.testing.assert_close(*results, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KEPT)
def test_kept_statistics_are_those_of_each_alone(kind: str) -> None:
    results = []
    for run in (each_alone, together):
        own = streams(True)
        with torch.no_grad():
            output = run(backbone(), inputs(5), own, KEPT[kind])
        results.append([output, *(stream[name] for stream in own for name in STATISTICS)])
    torch.testing.assert_close(*results, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ALIKE)
def test_streams_that_normalise_alike_do_so_at_once(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = backbone()

    def refuse(_: Tensor) -> Tensor:
        raise AssertionError("one after the other")

    monkeypatch.setattr(whole.model[0], "_alone", refuse)  # type: ignore[index]
    own = streams(kind == "of the batch, kept")
    assert together(whole, inputs(5), own, ALIKE[kind]).shape == (sum(SIZES), 100)


def test_what_a_batch_norm_does_of_its_own_stays() -> None:
    x, own = inputs(5), streams(False)
    twice = together(backbone(Doubled), x, own, [BATCH] * 3)
    torch.testing.assert_close(twice, 2 * together(backbone(), x, own, [BATCH] * 3))
