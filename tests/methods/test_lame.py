"""LAME: the source's probabilities, made to agree."""

import torch
from torch import Tensor

import trimtab
from reference import nets


def test_a_batch_of_one_gets_the_sources_prediction(model: nets.Net, images: Tensor) -> None:
    lame, source = trimtab.adapt(model, "lame"), trimtab.adapt(model, "source")
    for image in images[:5].split(1):
        assert torch.equal(lame(image), source(image))


def test_softmax_of_what_it_returns_are_its_probabilities(model: nets.Net, images: Tensor) -> None:
    log_probs = trimtab.adapt(model, "lame")(images[:16])
    torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(16))
    torch.testing.assert_close(log_probs.softmax(1), log_probs.exp())


def test_it_trains_nothing_even_without_norm_layers(images: Tensor) -> None:
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(768, 7))
    adapter = trimtab.adapt(model, "lame")
    assert adapter(images[:8]).isfinite().all()
    assert adapter.params == {}
