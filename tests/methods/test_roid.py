"""ROID's switches."""

import itertools

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.components.prior_correction import PriorCorrection

SWITCHES = list(itertools.product([True, False], [0.99, None], [True, False], ["logits", None]))


@pytest.mark.parametrize(("weighting", "ensembling", "consistency", "prior"), SWITCHES)
def test_every_combination_of_switches_works(
    weighting: bool,
    ensembling: float | None,
    consistency: bool,
    prior: str | None,
    recorded: dict[str, Tensor],
    images: Tensor,
) -> None:
    adapter = trimtab.adapt(
        nets.trained("gn", recorded),
        "roid",
        weighting=weighting,
        ensembling=ensembling,
        consistency=consistency,
        prior=prior,
    )
    for batch in images.split(32):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates == 3


def test_the_output_does_not_depend_on_the_update_it_causes(
    model: nets.Net, images: Tensor
) -> None:
    slow, fast = (trimtab.adapt(model, "roid", lr=lr) for lr in (1e-5, 1e-1))
    assert torch.equal(slow(images[:16]), fast(images[:16]))
    assert not torch.equal(slow(images[:16]), fast(images[:16]))


def test_without_learning_rate_nothing_moves(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid", lr=0.0)
    adapter(images[:16])
    for name, param in adapter.params.items():
        torch.testing.assert_close(param.detach(), adapter.source[name])


def test_the_prior_may_be_a_component(model: nets.Net, images: Tensor) -> None:
    rule = PriorCorrection("posterior", temperature=4, iterations=10, strength=2)
    adapter = trimtab.adapt(model, "roid", prior=rule)
    assert adapter(images[:16]).softmax(1).sum(1).allclose(torch.ones(16))


def test_batch_norms_without_a_picture_work_at_any_batch_size() -> None:
    model = nn.Sequential(nn.Linear(9, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 4))
    adapter = trimtab.adapt(model, "roid", augment=lambda x: x + 0.01)
    for size in (1, 2, 8):
        assert adapter(torch.rand(size, 9)).isfinite().all()
    assert adapter.counters.updates == 3


def test_rows_without_a_picture_need_an_augmentation_of_their_own() -> None:
    model = nn.Sequential(nn.Linear(9, 12), nn.BatchNorm1d(12), nn.Linear(12, 4))
    with pytest.raises(ValueError, match="pass augment= with a function that alters"):
        trimtab.adapt(model, "roid")(torch.rand(4, 9))
