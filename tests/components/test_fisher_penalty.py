"""The price of leaving the source weights."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.components.fisher_penalty import FisherPenalty
from trimtab.core.method import Method


@pytest.fixture
def batches(recorded: dict[str, Tensor]) -> Sequence[Tensor]:
    return (recorded["source_x"].float() / 255).split((16, 10, 6))


def begun(model: nn.Module, images: Tensor, source_data: Any, **options: Any) -> trimtab.Adapter:
    """A TENT stream with the penalty, just begun."""
    method = trimtab.build("tent").plus(FisherPenalty(source_data, **options))
    assert isinstance(method, Method)
    adapter = trimtab.adapt(model, method)
    adapter.begin(tuple(images.shape[1:]))
    return adapter


def gradients(model: nn.Module, batch: Tensor, names: list[str]) -> list[Tensor]:
    """Of a batch's mean cross entropy against its own labels, the plain way."""
    model.eval()
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.train()
            layer.momentum = 0.0
    logits = model(batch)
    loss = nn.functional.cross_entropy(logits, logits.argmax(1))
    params = dict(model.named_parameters())
    return list(torch.autograd.grad(loss, [params[name] for name in names]))


def test_information_is_the_squared_batch_mean_gradient_averaged_over_batches(
    model: nets.Net, images: Tensor, batches: Sequence[Tensor]
) -> None:
    # in double precision, where the order that a memory layout adds up in does not show
    model, batches = model.double(), [batch.double() for batch in batches]
    adapter = begun(model, images.double(), batches, weight=3.0)
    memory = adapter.memory["fisher_penalty"]
    names = list(adapter.source)
    by_batch = [gradients(model, batch, names) for batch in batches]
    for index, name in enumerate(names):
        expected = sum(grads[index].square() for grads in by_batch) / 3
        torch.testing.assert_close(memory[name], 3 * expected, rtol=1e-4, atol=1e-9)


def test_the_price_is_information_times_squared_distance() -> None:
    rule = FisherPenalty([])
    params = {"a": torch.tensor([1.0, 2.0]), "b": torch.tensor([3.0])}
    source = {"a": torch.tensor([0.0, 4.0]), "b": torch.tensor([3.0])}
    memory = {"a": torch.tensor([10.0, 0.5]), "b": torch.tensor([7.0])}
    assert rule.penalty(params, source, memory) == 10 * 1 + 0.5 * 4


@pytest.mark.parametrize("norm", ["bn"])
def test_pairs_with_labels_are_the_same_as_inputs_alone(
    model: nets.Net, images: Tensor, batches: Sequence[Tensor]
) -> None:
    alone = begun(model, images, batches).memory["fisher_penalty"]
    pairs = [(batch, torch.zeros(len(batch))) for batch in batches]
    labelled = begun(model, images, pairs).memory["fisher_penalty"]
    assert all(torch.equal(labelled[name], alone[name]) for name in alone)


@pytest.mark.parametrize("norm", ["ln"])
def test_reading_stops_once_there_are_enough_samples(
    model: nets.Net, images: Tensor, batches: Sequence[Tensor]
) -> None:
    read = []

    class Loader:
        def __iter__(self) -> Any:
            for batch in batches:
                read.append(len(batch))
                yield batch

    begun(model, images, Loader(), samples=17)
    assert read == [16, 10]


@pytest.mark.parametrize("norm", ["ln"])
def test_its_passes_are_counted_when_a_stream_begins(
    model: nets.Net, images: Tensor, batches: Sequence[Tensor]
) -> None:
    adapter = trimtab.adapt(model, trimtab.build("tent").plus(FisherPenalty(batches)))
    adapter(images[:16])
    assert adapter.counters.forward_samples == 32 + 16
    assert adapter.counters.backward_samples == 32 + 16
    adapter.reset()
    adapter(images[:16])
    assert adapter.counters.forward_samples == 32 + 16 + 16


@pytest.mark.parametrize(("side", "weight"), [(16, 1.0), (96, 2000.0)])
def test_its_weight_follows_the_size_of_the_images(side: int, weight: float) -> None:
    model = nets.net("gn")
    images = torch.rand(4, 3, side, side, generator=torch.Generator().manual_seed(0))
    by_default = begun(model, images, [images]).memory["fisher_penalty"]
    plain = begun(model, images, [images], weight=1.0).memory["fisher_penalty"]
    for name, value in by_default.items():
        torch.testing.assert_close(value, weight * plain[name])


@pytest.mark.parametrize("norm", ["ln"])
def test_an_exhausted_iterator_is_refused(model: nets.Net, images: Tensor) -> None:
    with pytest.raises(ValueError, match="must hold at least one batch, got none; an iterator"):
        begun(model, images, iter([]))


@pytest.mark.parametrize("norm", ["ln"])
def test_source_data_of_another_shape_is_refused(model: nets.Net, images: Tensor) -> None:
    with pytest.raises(ValueError, match=r"shape \(batch, 3, 16, 16\), as the stream has, got"):
        begun(model, images, [torch.zeros(4, 3, 8, 8)])


def test_a_spec_without_source_data_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match="use the method 'eata' with source_data="):
        trimtab.build("tent + fisher_penalty")
