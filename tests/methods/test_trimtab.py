"""The preset, from end to end."""

import pytest
import torch
from torch import Tensor

import trimtab
from core.attempts import attempt_of
from reference import nets


def test_it_learns_what_roid_learns_where_there_is_no_batch_norm(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    # looks for the temperature draw views of their own
    roid, preset = trimtab.adapt(model, "roid"), trimtab.adapt(model, "trimtab", temperature=False)
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


def test_single_samples_leave_a_batch_norm_network_near_its_source(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded)
    adapter, source = trimtab.adapt(model, "trimtab"), trimtab.adapt(model, "source")
    same = [bool(adapter(x).argmax() == source(x).argmax()) for x in images.split(1)]
    assert sum(same) > 0.8 * len(same)


def test_late_batch_norms_trust_independent_samples_more_than_correlated_ones(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("bn", recorded), "trimtab")
    adapter(images[:16])
    weights = []
    for likeliest in (0, -1):
        adapter.memory["temporal_prior"]["log_likelihoods"].zero_()[likeliest] = 50
        attempt = attempt_of(adapter)
        weights.append(attempt.learner.first_norm(attempt, 64).late_share)
    assert 0 < 2 * weights[1] < weights[0] < 1


@pytest.mark.parametrize("switch", ["temperature", "prior", "adaptive_norm", "cautious"])
def test_every_idea_can_be_left_out(model: nets.Net, images: Tensor, switch: str) -> None:
    whole, without = trimtab.build("trimtab"), trimtab.build("trimtab", **{switch: False})
    assert whole != without
    adapter = trimtab.adapt(model, without)
    for batch in images.split(32):
        assert adapter(batch).isfinite().all()
