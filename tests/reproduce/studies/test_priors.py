"""An output rule along simulated streams."""

from typing import Any

import pytest

from trimtab.reproduce.studies.priors import code_of, forwards, measure

SETTINGS: dict[str, Any] = {
    "rule": "temporal_prior",
    "code": code_of("temporal_prior"),
    "classes": 10,
    "accuracy": 0.75,
    "favourites": "few favourites",
    "confidence": 1.0,
    "orders": ["independent", "runs of 30"],
    "samples": 400,
    "batch_size": 64,
    "seed": 1,
}


def test_what_is_measured_follows_from_the_settings() -> None:
    record = measure(**SETTINGS)
    assert list(record) == SETTINGS["orders"]
    assert record == measure(**SETTINGS)
    assert record != measure(**SETTINGS | {"seed": 2})


def test_an_order_is_the_same_stream_whatever_other_orders_are_asked_for() -> None:
    alone = measure(**SETTINGS | {"orders": ["runs of 30"]})
    assert alone["runs of 30"] == measure(**SETTINGS)["runs of 30"]


def test_a_prior_uses_runs_and_says_on_how_many_batches() -> None:
    found = measure(**SETTINGS)["runs of 30"]
    assert found["corrected"] < found["raw"] - 10
    assert 0 < found["changed"] <= 100


def test_the_second_half_is_also_counted_for_itself() -> None:
    found = measure(**SETTINGS | {"orders": ["begins halfway"]})["begins halfway"]
    assert found["later_corrected"] < found["later_raw"] - 10
    earlier = [2 * found[kind] - found[f"later_{kind}"] for kind in ("raw", "corrected")]
    assert earlier[1] == pytest.approx(earlier[0], abs=5), "one batch is of both halves"


def test_batches_that_a_rule_leaves_alone_are_not_counted() -> None:
    found = measure(**SETTINGS | {"samples": 16, "orders": ["independent"]})["independent"]
    assert found["corrected"] == found["raw"]
    assert found["changed"] == 0


def test_single_samples_of_domains_with_a_bias_of_their_own_are_a_stream_too() -> None:
    words = {"favourites": "favourites by domain", "batch_size": 1, "samples": 40}
    assert 0 < measure(**SETTINGS | words)["independent"]["raw"] < 100


def test_errors_of_another_version_of_the_rule_are_not_passed_off_as_this_ones() -> None:
    with pytest.raises(ValueError, match="no longer the version 01234567"):
        measure(**SETTINGS | {"code": "01234567"})
    assert code_of("temporal_prior") != code_of("laplacian")
    with pytest.raises(ValueError, match="a component with a module of its own name"):
        code_of("temporal_priors")


def test_the_estimate_grows_with_samples_classes_and_batches() -> None:
    plain = forwards(**SETTINGS)
    assert forwards(**SETTINGS | {"classes": 1000}) > plain
    assert forwards(**SETTINGS | {"samples": 4000}) > plain
    assert forwards(**SETTINGS | {"batch_size": 1}) > plain
