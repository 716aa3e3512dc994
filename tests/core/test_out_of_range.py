"""Samples that no honest stream contains: predicted by the source, and nothing else happens."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import rotated
from reference import nets
from same import assert_same
from trimtab.core.plausible import PATIENCE, Shown

FACTORS = (255.0, pytest.param(1e19, marks=pytest.mark.slow), 1e38)
"""The smallest and the largest that are seen, and from where on squares are not finite."""
BETWEEN = (1e4, 1e10, 1e30)
"""Others: a sample is refused by its values, before a norm layer sees it."""


def without(state: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in state.items() if name not in names}


def spoiled(images: Tensor, row: int, factor: float) -> Tensor:
    batch = images.clone()
    batch[row] *= factor
    return batch


STREAMS = [
    (method, window)
    for method in ("source", "bn1", "bn_ema", "tent", "roid", "rotta", "trimtab")
    for window in (None, 8)
]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize(("method", "window"), STREAMS)
def test_a_frame_out_of_range_is_as_if_it_had_not_come(
    method: str, window: int | None, factor: float, model: nets.Net, images: Tensor
) -> None:
    expect_no_trace(method, window, factor, model, images)


@pytest.mark.slow
@pytest.mark.parametrize("factor", BETWEEN)
@pytest.mark.parametrize(("method", "window"), STREAMS)
def test_a_frame_a_little_less_out_of_range_leaves_no_trace_either(
    method: str, window: int | None, factor: float, recorded: dict[str, Tensor], images: Tensor
) -> None:
    """On one kind of norm each, in turn."""
    model = nets.trained(rotated(method, str(window), str(factor)), recorded)
    expect_no_trace(method, window, factor, model, images)


def expect_no_trace(
    method: str, window: int | None, factor: float, model: nets.Net, images: Tensor
) -> None:
    """Expect a stream with one sample out of range to be as it is without that sample."""
    backbone = trimtab.Backbone(model)
    plain, hit = (trimtab.adapt(backbone, method, window=window) for _ in range(2))
    for adapter in (plain, hit):
        adapter(images[:16])
    batch = spoiled(images[16:32], 5, factor)
    honest = torch.cat([batch[:5], batch[6:]])
    expected, found = plain(honest), hit(batch)
    assert found.isfinite().all()
    assert torch.equal(torch.cat([found[:5], found[6:]]), expected)
    assert hit.counters.refused_samples == 1
    assert hit.counters.samples == plain.counters.samples + 1
    ours, theirs = (without(a.state_dict(), "counters") for a in (hit, plain))
    assert_same(ours, theirs)


@pytest.mark.parametrize("factor", [255.0, 1e10])
def test_a_frame_out_of_range_in_the_first_batch_is_noticed_too(
    model: nets.Net, images: Tensor, factor: float
) -> None:
    adapter = trimtab.adapt(model, "roid", window=8)
    adapter(spoiled(images[:4], 0, factor))
    assert adapter.counters.refused_samples == 1


def test_it_is_the_source_that_predicts_it(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid")
    for batch in images[:64].split(16):
        adapter(batch)
    batch = spoiled(images[64:80], 3, 255.0)
    promised = adapter.predict(batch)
    found = adapter(batch)
    assert torch.equal(found, promised)
    torch.testing.assert_close(found[3], model.eval()(batch[3:4])[0].detach())


@pytest.mark.parametrize("method", trimtab.METHODS)
def test_a_batch_far_out_of_range_gets_finite_logits_and_changes_nothing(
    method: str, model: nets.Net, images: Tensor
) -> None:
    expect_finite_logits_and_no_change(method, 1e20, model, images)


@pytest.mark.parametrize("method", trimtab.METHODS)
def test_a_batch_at_the_end_of_all_numbers_does_so_too(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    """On one kind of norm for each method, in turn: the first value that is squared overflows."""
    expect_finite_logits_and_no_change(
        method, 1e38, nets.trained(rotated(method), recorded), images
    )


def expect_finite_logits_and_no_change(
    method: str, factor: float, model: nets.Net, images: Tensor
) -> None:
    """Expect a batch of such values to be predicted by the source and to leave the old state."""
    known: dict[str, dict[str, Any]] = {
        "eata": {"source_data": [images[:8]]},
        "cotta": {"views": 2},
        "memo": {"views": 2},
    }
    options: dict[str, Any] = known.get(method, {})
    adapter = trimtab.adapt(model, method, window=1, micro_batch=1, **options)
    adapter(images[:4])
    before = without(adapter.state_dict(), "counters", "shown")
    for call in (adapter.predict, adapter):
        assert call(images[4:8] * factor).isfinite().all()
    assert_same(without(adapter.state_dict(), "counters", "shown"), before)
    assert adapter(images[8:12]).isfinite().all()


@pytest.mark.filterwarnings("ignore:values lie in")
@pytest.mark.parametrize("method", ["cotta", "rmt", "bn_ema", "tent", "rotta"])
def test_statistics_that_overflow_are_never_stored(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    """The first batch decides what is far, so nothing is refused here."""
    options: dict[str, Any] = {"views": 2} if method == "cotta" else {}
    options |= {"memory_size": 4} if method == "rotta" else {}
    adapter = trimtab.adapt(
        nets.trained("bn", recorded), method, window=1, micro_batch=1, **options
    )
    for factor in (1e19, 1e25, 1e30):
        assert adapter(images[:8] * factor).isfinite().all()
        state = adapter.state
        stored = [state.statistics, state.params, *state.memory.values()]
        assert all(t.isfinite().all() for tensors in stored for t in tensors.values())


def test_a_window_is_never_overfull(images: Tensor, recorded: dict[str, Tensor]) -> None:
    x = images[:16]
    for method in ("roid", "trimtab"):
        for norm in ("bn", "gn", "ln"):
            adapter = trimtab.adapt(nets.trained(norm, recorded), method, window=8)
            adapter(x[:4])
            adapter(torch.cat([x[:4] * 1e38, x]))
            updates = adapter.counters.updates
            for _ in range(20):
                adapter(x[:4])
                assert 0 < (adapter.window.room or 0) <= 8
            assert adapter.counters.updates >= updates + 9


def test_a_window_goes_on_when_a_part_of_a_batch_is_not_finite(
    images: Tensor, model: nets.Net
) -> None:
    marked = images[:4].clone()
    marked[:, 0, 0, 0] = 2.0

    def overflow(_: object, args: tuple[Tensor, ...], logits: Tensor) -> Tensor:
        return logits * torch.nan if bool((args[0][:, 0, 0, 0] == 2).any()) else logits

    adapter = trimtab.adapt(model, "roid", window=8)
    adapter.backbone.model.register_forward_hook(overflow)
    adapter(images[:4])
    assert adapter(torch.cat([marked, images[:16]])).isfinite().all()
    assert adapter.counters.skipped_updates == 1
    assert adapter.window.room == 4  # of 20 samples, 16 were two windows
    for _ in range(20):
        adapter(images[:4])
        assert 0 < (adapter.window.room or 0) <= 8
    assert adapter.counters.updates == (4 + 16 + 80) // 8


# ---------------------------------------------------------------- what is honest


def judged(peaks: list[float], shown: Shown) -> tuple[list[bool] | None, Shown]:
    refused, after = shown.judge(torch.tensor(peaks)[:, None])
    return (None if refused is None else refused.tolist()), after


@pytest.mark.parametrize("scale", [1.0, 2.6, 255.0, 4096.0, 1e6])
def test_any_scale_is_honest_that_a_stream_begins_with(scale: float) -> None:
    shown = Shown()
    for _ in range(3):
        refused, shown = judged([scale, -0.9 * scale, 0.1 * scale, 0.0], shown)
        assert refused is None
    assert judged([20 * scale], shown)[0] == [True]


def test_a_stream_that_begins_in_the_dark_may_become_light() -> None:
    _, shown = judged([0.0], Shown())
    refused, shown = judged([1.0, 2.6], shown)
    assert refused is None


def test_a_stream_whose_values_are_larger_from_now_on_is_followed_after_a_while() -> None:
    _, shown = judged([1.0], Shown())
    answers = []
    for _ in range(PATIENCE + 8):
        refused, shown = judged([255.0], shown)
        answers.append(refused is not None)
    assert answers == [True] * PATIENCE + [False] * 8
    assert judged([200.0], shown)[0] is None


def test_an_honest_sample_between_ends_the_patience() -> None:
    _, shown = judged([1.0], Shown())
    for _ in range(PATIENCE):
        refused, shown = judged([255.0, 255.0, 1.0], shown)
        assert refused == [True, True, False]


def test_values_that_no_camera_gives_are_refused_for_ever() -> None:
    _, shown = judged([1.0], Shown())
    for _ in range(3 * PATIENCE):
        refused, shown = judged([1e10], shown)
        assert refused == [True]


def test_what_was_shown_is_part_of_the_state(model: nets.Net, images: Tensor) -> None:
    backbone = trimtab.Backbone(model)
    adapter, other = (trimtab.adapt(backbone, "tent") for _ in range(2))
    adapter(images[:4] * 100)
    other.load_state_dict(adapter.state_dict())
    assert other.state.shown == adapter.state.shown
    other.reset()
    assert other.state.shown == Shown()


# ---------------------------------------------------------------- a real network


@pytest.mark.slow
@pytest.mark.parametrize("method", ["roid", "rotta", "bn_ema", "trimtab"])
@pytest.mark.parametrize("window", [None, 64])
def test_one_frame_does_not_ruin_a_stream_of_clothes(method: str, window: int | None) -> None:
    backbone, stream = trimtab.load_demo(images_per_domain=300)
    batches = [batch for batch, _ in zip(stream, range(4), strict=False)]
    plain, hit = (trimtab.adapt(backbone, method, window=window) for _ in range(2))
    plain(batches[0].inputs)
    hit(spoiled(batches[0].inputs, 7, 255.0))
    right = torch.zeros(2, dtype=torch.long)
    for batch in batches[1:]:
        said = torch.stack([adapter(batch.inputs).argmax(1) for adapter in (plain, hit)])
        right += (said == batch.labels).sum(1)
    assert int(right[1]) > int(right[0]) - 3  # of 150
