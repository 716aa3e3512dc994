"""What a run is."""

from typing import Any

import pytest

from bench.stores import tiny_spec
from trimtab.bench.spec import RunSpec


def test_equal_specs_have_equal_ids_and_others_do_not() -> None:
    assert tiny_spec(options={"a": 1, "b": 2}).id == tiny_spec(options={"b": 2, "a": 1}).id
    changes: list[dict[str, Any]] = [
        {"seed": 1},
        {"batch_size": 9},
        {"weights": "f"},
        {"options": {"lr": 1.0}},
    ]
    assert len({tiny_spec(**change).id for change in changes} | {tiny_spec().id}) == 5


def test_specs_survive_json() -> None:
    spec = tiny_spec(options={"lr": 0.1}, window=4)
    assert RunSpec.from_json(spec.to_json()) == spec


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"unknown field of a run 'sevreity'.*did you mean 'severity'"
    ):
        RunSpec.from_json({"method": "roid", "sevreity": 5})


def test_the_command_says_all_that_is_not_a_default() -> None:
    spec = tiny_spec(scenario="mixed_correlated(delta=0.1)", options={"lr": 0.1})
    assert spec.command == (
        "trimtab run --method source --model fashion_resnet20_gn --data fashion_mnist "
        "--scenario 'mixed_correlated(delta=0.1)' --option=lr=0.1 --images-per-domain 8 "
        "--batch-size 8"
    )
