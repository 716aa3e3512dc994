"""MEMO's episodes."""

from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


def test_an_image_is_predicted_the_same_alone_and_in_a_batch(
    model: nets.Net, images: Tensor
) -> None:
    flip: dict[str, Any] = {"augment": lambda x: torch.cat([x[:2], x[2:].flip(-1)]), "views": 6}
    together = trimtab.adapt(model, "memo", **flip)(images[:5])
    adapter = trimtab.adapt(model, "memo", **flip)
    singly = torch.cat([adapter(image) for image in images[:5].split(1)])
    assert torch.equal(together, singly)


def test_between_images_everything_is_forgotten(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "memo", views=4, lr=0.1)
    adapter(images[:3])
    assert adapter.counters.updates == 3
    assert all(torch.equal(p, adapter.source[name]) for name, p in adapter.params.items())
    assert not adapter.state_dict()["optimizer"]


def test_the_prediction_follows_one_step_on_the_marginal_entropy(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    """Slow and obvious, on a network without batch norms: one step of SGD, then a forward."""
    found = trimtab.adapt(nets.trained("ln", recorded), "memo", augment=rows_shifted, views=4)
    model = nets.trained("ln", recorded)
    optimizer = torch.optim.SGD(model.parameters(), lr=5e-3, momentum=0.9, nesterov=True)
    mean = model(rows_shifted(images[:1].expand(4, -1, -1, -1))).softmax(1).mean(0)
    (-(mean * mean.log()).sum()).backward()
    optimizer.step()
    with torch.no_grad():
        expected = model(images[:1])
    torch.testing.assert_close(found(images[:1]), expected, rtol=0, atol=1e-5)


def rows_shifted(images: Tensor) -> Tensor:
    return torch.stack([image.roll(number, 1) for number, image in enumerate(images)])


def test_predict_is_a_call_that_leaves_no_trace(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "memo", views=4)
    promised = adapter.predict(images[:3])
    assert torch.equal(promised, adapter.predict(images[:3]))
    assert torch.equal(promised, adapter(images[:3]))


@pytest.mark.parametrize("budget", [2, 40, "auto"])
def test_predict_knows_whether_a_budget_lets_a_call_learn(
    model: nets.Net, images: Tensor, budget: Any
) -> None:
    adapter = trimtab.adapt(model, "memo", views=4, lr=0.1, budget=budget)
    for batch in images[:8].split(2):
        promised = adapter.predict(batch)
        assert torch.equal(adapter(batch), promised)


@pytest.mark.parametrize(("side", "views"), [(16, 32), (65, 64)])
def test_small_images_have_32_views_and_larger_ones_64(side: int, views: int) -> None:
    adapter = trimtab.adapt(nets.net("gn"), "memo")
    adapter(torch.rand(2, 3, side, side))
    assert adapter.counters.forward_samples == 2 * (views + 1)
    assert adapter.counters.backward_samples == 2 * views


def test_micro_batches_and_windows_work(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "memo + prior_correction", views=6, micro_batch=4, window=3)
    assert adapter(images[:5]).isfinite().all()
    assert adapter.counters.updates == 5


def test_components_that_store_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="got class_balanced_memory"):
        trimtab.build("memo + class_balanced_memory")
    with pytest.raises(ValueError, match="views must be at least 1, got 0"):
        trimtab.build("memo", views=0)
