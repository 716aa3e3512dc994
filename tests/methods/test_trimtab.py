"""The preset, from end to end."""

import numpy as np
import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab import models
from trimtab.streams.data import Indices
from trimtab.streams.embedded import load


def test_it_learns_what_roid_learns_where_there_is_no_batch_norm(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    # looks for the temperature draw views of their own
    roid = trimtab.adapt(model, "roid")
    preset = trimtab.adapt(model, "trimtab", temperature=False, guard=False)
    for batch in images.repeat(2, 1, 1, 1).split(96):
        roid(batch)
        preset(batch)
    assert roid.counters == preset.counters
    assert all(torch.equal(p, preset.params[name]) for name, p in roid.params.items())


@pytest.mark.parametrize("window", [None, 8])
@pytest.mark.parametrize("micro_batch", [None, 4])
def test_it_works_with_windows_and_micro_batches(
    model: nets.Net, images: Tensor, window: int | None, micro_batch: int | None
) -> None:
    adapter = trimtab.adapt(model, "trimtab", window=window, micro_batch=micro_batch)
    for batch in images.split(12):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates > 0


@pytest.mark.slow
def test_single_samples_leave_a_batch_norm_network_near_its_source(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded)
    adapter, source = trimtab.adapt(model, "trimtab"), trimtab.adapt(model, "source")
    same = [bool(adapter(x).argmax() == source(x).argmax()) for x in images.split(1)]
    assert sum(same) > 0.8 * len(same)


def test_another_prior_leaves_the_adaptive_norm_on() -> None:
    names = [c.name for c in trimtab.build("trimtab + temporal_prior(caution=0)").components]
    assert names == [c.name for c in trimtab.build("trimtab").components]
    assert "adaptive_norm" in names


def test_it_says_what_it_believes(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "trimtab")
    assert adapter.beliefs == {}
    adapter(images[:32])
    assert adapter.beliefs["view_temperature"]["temperature"] > 0
    assert 0 <= adapter.beliefs["temporal_prior"]["trust"] <= 1
    assert ("adaptive_norm" in adapter.beliefs) == adapter.backbone.has_batch_norm
    assert trimtab.adapt(model, "tent").beliefs == {}


@pytest.mark.slow
def test_whole_batches_of_one_class_do_not_lock_a_batch_norm_network_in() -> None:
    data, backbone = load(), models.load("fashion_resnet20_bn")
    adapter = trimtab.adapt(backbone, "trimtab")
    right: list[float] = []
    for label in (5, 5, 5, 5, 8, 8, 8, 1, 1, 1):  # whole batches, several of each
        chosen = np.flatnonzero(data.labels == label)[len(right) % 4 * 64 :][:64]
        inputs = torch.from_numpy(data.images[chosen]).permute(0, 3, 1, 2) / 255
        right.append(float((adapter(inputs).argmax(1) == label).float().mean()))
    assert adapter.beliefs["adaptive_norm"]["late_share"] == 0
    assert min(right[4:]) > 0.8


@pytest.mark.slow
def test_a_veil_is_no_run_and_a_run_that_begins_late_is_seen_within_two_batches() -> None:
    data, backbone = load("source"), models.load("fashion_resnet20_bn")
    adapter, random = trimtab.adapt(backbone, "trimtab"), np.random.default_rng(0)

    def given(chosen: Indices, veil: float) -> tuple[float, float]:
        """Shares of the predictions that are right, by the preset and by the source model."""
        inputs = torch.from_numpy(data.pixels(chosen)).permute(0, 3, 1, 2) / 255
        inputs, truth = (1 - veil) * inputs + veil, torch.from_numpy(data.labels[chosen])
        with torch.no_grad():
            source_right = backbone(inputs).logits.argmax(1) == truth
        return float((adapter(inputs).argmax(1) == truth).float().mean()), float(
            source_right.float().mean()
        )

    for _ in range(3):  # stored statistics see one class or two in it
        right, source_right = given(random.permutation(len(data))[:64], 0.7)
    assert source_right < 0.3
    assert right > 0.6
    assert adapter.beliefs["adaptive_norm"]["late_share"] == 1
    for _ in range(2):
        right, _ = given(random.permutation(np.flatnonzero(data.labels == 9))[:64], 0.0)
    assert adapter.beliefs["adaptive_norm"]["late_share"] == 0
    assert right > 0.8


@pytest.mark.parametrize("switch", ["temperature", "prior", "adaptive_norm", "cautious"])
def test_every_idea_can_be_left_out(model: nets.Net, images: Tensor, switch: str) -> None:
    whole, without = trimtab.build("trimtab"), trimtab.build("trimtab", **{switch: False})
    assert whole != without
    adapter = trimtab.adapt(model, without)
    for batch in images.split(32):
        assert adapter(batch).isfinite().all()
