"""SAR: the second pass, the velocity, the recovery."""

import math

import pytest
import torch
from torch import Tensor, nn

import trimtab
from core.attempts import attempt_of
from reference import nets
from trimtab.core.norm import SOURCE
from trimtab.functional import entropy
from trimtab.methods.sar import reliable_gradients


def velocities(adapter: trimtab.Adapter) -> dict[str, Tensor]:
    assert adapter.optimizer is not None
    state = adapter.optimizer.state_dict()["state"]
    return {n: state[i]["momentum_buffer"].clone() for i, n in enumerate(adapter.params)}


def values(adapter: trimtab.Adapter) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in adapter.params.items()}


def first_update_by_hand(model: nn.Module, images: Tensor, lr: float) -> dict[str, Tensor]:
    """One step of SAR on a network without batch norm, written out."""
    names = [n for n, m in model.named_modules() if isinstance(m, (nn.GroupNorm, nn.LayerNorm))]
    params = {n: p for n, p in model.named_parameters() if n.rpartition(".")[0] in names}
    tensors, limit = list(params.values()), 0.4 * math.log(7)
    before = [p.detach().clone() for p in tensors]
    costs = entropy(model(images))
    reliable = costs < limit
    uphill = torch.autograd.grad(costs[reliable].mean(), tensors)
    size = math.sqrt(sum(float(g.square().sum()) for g in uphill)) + 1e-12
    with torch.no_grad():
        for p, g in zip(tensors, uphill, strict=True):
            p += 0.05 * g / size  # type: ignore[misc]
    costs = entropy(model(images))[reliable]
    downhill = torch.autograd.grad(costs[costs < limit].mean(), tensors)
    moved = [value - lr * g for value, g in zip(before, downhill, strict=True)]
    return dict(zip(params, moved, strict=True))


@pytest.mark.parametrize("norm", ["gn", "ln"])
@pytest.mark.parametrize("micro_batch", [None, 5])
def test_an_update_goes_downhill_from_the_worst_weights_nearby(
    model: nets.Net, images: Tensor, micro_batch: int | None
) -> None:
    adapter = trimtab.adapt(model, "sar", lr=0.1, min_loss=0.0, micro_batch=micro_batch)
    adapter(images[:32])
    for name, expected in first_update_by_hand(model, images[:32], 0.1).items():
        torch.testing.assert_close(adapter.params[name].detach(), expected, atol=1e-5, rtol=0)


def test_velocity_moves_the_weights_also_when_nothing_is_reliable(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "sar", lr=0.1)
    adapter(images[:16])
    before, velocity = values(adapter), velocities(adapter)
    assert all(v.abs().max() > 0 for v in velocity.values())
    with torch.no_grad():
        model.classifier.weight.zero_()  # every prediction is as uncertain as can be
        model.classifier.bias.zero_()
    passes = adapter.counters.forward_samples
    adapter(images[16:32])
    assert adapter.counters.forward_samples == passes + 16  # nothing to look at twice
    for name, after in values(adapter).items():
        torch.testing.assert_close(after, before[name] - 0.1 * 0.9 * velocity[name])
    assert adapter.counters.skipped_updates == 0


def test_recovery_clears_the_loss_average_but_not_the_velocity(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "sar", lr=0.1, min_loss=100.0)
    adapter(images[:16])
    assert adapter.memory["recovery"] == {"recoveries": torch.tensor(1)}
    assert all(torch.equal(p, adapter.source[n]) for n, p in adapter.params.items())
    velocity = velocities(adapter)
    assert all(v.abs().max() > 0 for v in velocity.values())
    twin = trimtab.adapt(model, "sar", lr=0.1, min_loss=0.0)
    twin(images[:16])
    assert all(torch.equal(velocity[n], v) for n, v in velocities(twin).items())


def test_no_recovery_while_the_loss_is_high_enough(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "sar", min_loss=0.0)
    for batch in images.split(16):
        adapter(batch)
    assert adapter.memory["recovery"]["recoveries"] == 0
    assert adapter.memory["recovery"]["mean_loss"] > 0


def test_a_certain_batch_costs_two_passes_each_way(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "sar", max_entropy=2.0)
    adapter(images[:16])
    assert adapter.counters.forward_samples == 32
    assert adapter.counters.backward_samples == 32


@pytest.mark.parametrize("norm", ["ln"])
def test_a_loss_that_is_not_finite_leaves_the_weights_where_they_were(
    model: nets.Net, images: Tensor
) -> None:
    adapter = trimtab.adapt(model, "sar", radius=1e38)
    adapter(images[:16])
    assert adapter.counters.skipped_updates == 1
    assert all(torch.equal(p, adapter.source[n]) for n, p in adapter.params.items())


@pytest.mark.parametrize("norm", ["ln"])
def test_a_penalty_counts_in_full_when_fewer_samples_stay_reliable(
    model: nets.Net, images: Tensor
) -> None:
    penalty = trimtab.build("eata", source_data=[images[:16]], fisher_weight=5.0).components[2]
    adapter = trimtab.adapt(model, trimtab.build("sar", max_entropy=1e-9).plus(penalty))
    adapter.begin((3, 16, 16))
    with torch.no_grad():
        for param in adapter.params.values():
            param += 0.1
    attempt = attempt_of(adapter)
    step = attempt.step(images[:16], attempt.forward_in_parts(images[:16], SOURCE))
    reliable_gradients(attempt, step, torch.ones(16), 16)  # all count, none is reliable any more
    for name, param in attempt.state.params.items():
        price = adapter.memory["fisher_penalty"][name]
        torch.testing.assert_close(param.grad, 2 * price * (param.detach() - adapter.source[name]))


@pytest.mark.parametrize(("side", "lr"), [(16, 1e-3), (96, 2.5e-4)])
def test_the_learning_rate_follows_the_size_of_the_images(side: int, lr: float) -> None:
    adapter = trimtab.adapt(nets.net("gn"), "sar")
    adapter(torch.rand(2, 3, side, side, generator=torch.Generator().manual_seed(0)))
    assert isinstance(adapter.optimizer, torch.optim.SGD)
    group = adapter.optimizer.param_groups[0]
    assert (group["lr"], group["momentum"], group["nesterov"]) == (lr, 0.9, False)


@pytest.mark.parametrize("norm", ["gn", "ln"])
def test_a_window_of_single_samples_learns_as_a_batch_does(model: nets.Net, images: Tensor) -> None:
    singly, whole = trimtab.adapt(model, "sar", window=16), trimtab.adapt(model, "sar")
    whole(images[:16])
    for image in images[:16].split(1):
        singly(image)
    for name, param in whole.params.items():
        torch.testing.assert_close(singly.params[name], param, atol=1e-6, rtol=0)
