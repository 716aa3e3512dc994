"""Adapting to one domain and looking at all, on a few images."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from trimtab import models, reproduce
from trimtab.reproduce.setup import setup_for, small
from trimtab.reproduce.studies import generalization
from trimtab.reproduce.supervision import Answers
from trimtab.streams import scenario
from trimtab.streams.corruptions import BENCHMARK
from trimtab.streams.domains import Corrupted

MODEL = "fashion_resnet20_gn"
SETTINGS: dict[str, Any] = {
    "data": "fashion_mnist",
    "model": MODEL,
    "weights": models.describe(MODEL).fingerprint,
    "domain": "fog",
    "rates": (1e-3, 1e-2),
    "images": 20,
    "severity": 3,
    "batch_size": 8,
    "seed": 1,
}


@pytest.mark.slow
def test_every_way_is_seen_on_every_domain_and_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    images = generalization.load_domains("fashion_mnist")
    assert isinstance(images, Corrupted)
    assert images.names == BENCHMARK
    names = BENCHMARK[1::4]  # fog is one of them
    monkeypatch.setattr(generalization, "load_domains", lambda _: replace(images, names=names))
    record = generalization.measure(**SETTINGS)
    assert (record["adapted_to"], record["held_out"]) == (16, 4)
    assert len(record["errors"]) == 3 * 2 * 2
    for errors in record["errors"].values():
        assert tuple(errors) == (*names, "clean")
        assert all(0 <= error <= 100 for error in errors.values())
    assert record == generalization.measure(**SETTINGS)


@pytest.mark.slow
def test_errors_are_those_of_a_stream_that_was_adapted_alone_and_stopped() -> None:
    record = generalization.measure(**SETTINGS | {"rates": (1e-2,)})
    backbone, domains = models.load(MODEL), generalization.load_domains("fashion_mnist")
    learned, held_out = generalization.split(domains, "fog", 20, 1)
    assert not set(learned) & set(held_out)
    adapter = generalization.recipe("diverse", True, 1e-2, Answers()).start(backbone, seed=1)
    for batch in generalization.show(domains, "fog", 3, learned, 8, 1):
        adapter(batch.inputs)
    wrong = 0
    for batch in generalization.show(domains, "snow", 3, held_out, 8, 1):
        logits = backbone(batch.inputs, adapter.params).logits
        wrong += int((logits.argmax(1) != batch.labels).sum())
    assert record["errors"]["diverse/ensembled/0.01"]["snow"] == 100 * wrong / 4


def test_images_of_a_domain_are_those_of_its_stream() -> None:
    domains = generalization.load_domains("fashion_mnist")
    [batch] = scenario("single(domain='fog', severity=3)").stream(
        domains, seed=1, batch_size=4, images_per_domain=4
    )
    [shown] = generalization.show(domains, "fog", 3, batch.index.numpy(), 4, 1)
    assert torch.equal(shown.inputs, batch.inputs)
    assert torch.equal(shown.labels, batch.labels)


def test_ensembling_takes_five_times_the_learning_rate_from_the_source() -> None:
    method = generalization.recipe("entropy", True, 1e-2, Answers())
    assert "SourceEnsembling(momentum=0.95)" in method.spec
    assert "SourceEnsembling" not in generalization.recipe("entropy", False, 1e-2, Answers()).spec


def test_other_weights_than_were_asked_for_are_refused() -> None:
    with pytest.raises(ValueError, match="no longer has the weights 123"):
        generalization.measure(**SETTINGS | {"weights": "123"})


def test_a_study_says_about_how_long_it_takes() -> None:
    [study, *_] = reproduce.load("generalization").studies(small(setup_for("fashion_mnist")))
    assert study.forwards == 12 * (3 * 640 + 16 * 160)
