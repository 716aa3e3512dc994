"""Single samples and small batches on batch-norm networks, without a window."""

import warnings
from itertools import islice

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.core.advice import TrimtabWarning
from trimtab.core.norm import BATCH
from trimtab.core.small_batches import (
    FEWEST_OF_A_REST,
    FEWEST_SAMPLES,
    SOURCE_SAMPLES,
    STREAM_SAMPLES,
)

SAMPLES = 120
"""Of the first four corruptions."""
SAYS = "this network has batch norms, and .*window=64"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["tent", "roid", "trimtab"])
def test_single_samples_are_predicted_no_worse_than_by_the_source(method: str) -> None:
    backbone, stream = trimtab.load_demo(images_per_domain=30, batch_size=1)
    adapter = trimtab.adapt(backbone, method)
    right = source_right = 0
    for batch in islice(stream, SAMPLES):
        source_right += int(backbone(batch.inputs).logits.argmax(1) == batch.labels)
        right += int(adapter(batch.inputs).argmax(1) == batch.labels)
    assert right >= source_right - 0.03 * SAMPLES


def test_small_batches_say_once_that_a_window_is_better(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "tent")
    with pytest.warns(TrimtabWarning, match=SAYS) as said:
        adapter(images[:1])
    assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adapter(images[1:2])


@pytest.mark.parametrize(
    ("norm", "options", "size"),
    [
        ("bn", {}, FEWEST_SAMPLES),
        ("bn", {"window": 8}, 1),
        ("bn", {"method": "bn_alpha"}, 1),
        ("gn", {}, 1),
    ],
)
def test_nothing_is_said_where_nothing_is_changed(
    norm: str, options: dict[str, object], size: int, recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained(norm, recorded), **{"method": "tent"} | options)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        adapter(images[:size])
    assert adapter.state.followed_samples == 0


def test_statistics_move_by_the_share_of_what_they_know(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained("bn", recorded))
    adapter = trimtab.adapt(backbone, "bn1")
    seen: list[Tensor] = []
    name = "encoder.1.running_mean"
    first_layer = backbone.model.encoder[0]  # type: ignore[index]
    expected = backbone.statistics[name].clone()
    for count, image in enumerate(images[:60].split(1)):
        adapter(image)
        weight = 1 / min(STREAM_SAMPLES, SOURCE_SAMPLES + count)
        with torch.no_grad():
            expected = expected.lerp(first_layer(image).mean((0, 2, 3)), weight)  # type: ignore[operator]
        seen.append(adapter.statistics[name])
        torch.testing.assert_close(seen[-1], expected)


def test_an_update_from_few_samples_is_a_share_of_a_whole_one(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded)
    source = trimtab.Backbone(model).parameters(trimtab.in_norm_layers)
    moved = {}
    for size in (1, 16):
        adapter = trimtab.adapt(model, "tent")
        adapter(images[:size])
        moved[size] = max(
            float((adapter.params[n].detach() - source[n]).abs().max()) for n in source
        )
    assert moved[1] == pytest.approx(1e-3 / 64, rel=0.01)  # Adam's first step is its rate
    assert moved[16] == pytest.approx(1e-3, rel=0.01)


def test_micro_batches_too_small_for_statistics_follow_the_stream_too(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "tent", micro_batch=1)
    with pytest.warns(TrimtabWarning, match=SAYS):
        adapter(images[:32])
    assert adapter.state.followed_samples == 32
    assert adapter.counters.updates == 1


def test_a_stream_of_small_batches_goes_on_after_a_load(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded)
    adapter, other = trimtab.adapt(model, "roid"), trimtab.adapt(model, "roid")
    for image in images[:5].split(1):
        adapter(image)
    other.load_state_dict(adapter.state_dict())
    assert other.state.followed_samples == 5
    assert torch.equal(adapter(images[5:7]), other(images[5:7]))
    adapter.reset()
    assert adapter.state.followed_samples == 0


def test_the_rest_of_a_domain_has_statistics_of_its_own_in_a_stream_of_ordinary_batches(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "bn1")
    adapter(images[:FEWEST_SAMPLES])
    rest = images[FEWEST_SAMPLES:][:FEWEST_OF_A_REST]
    logits = adapter(rest)
    assert adapter.state.followed_samples == 0
    torch.testing.assert_close(logits, adapter.backbone(rest, policy=BATCH).logits)


def test_fewer_samples_than_a_rest_follow_the_stream(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "bn1")
    adapter(images[:FEWEST_SAMPLES])
    adapter(images[FEWEST_SAMPLES:][: FEWEST_OF_A_REST - 1])
    assert adapter.state.followed_samples == FEWEST_OF_A_REST - 1


def test_small_batches_follow_the_stream_again_after_a_reset(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "bn1")
    adapter(images[:FEWEST_SAMPLES])
    adapter.reset()
    adapter(images[: FEWEST_SAMPLES - 1])
    assert adapter.state.followed_samples == FEWEST_SAMPLES - 1
