"""Ranks are started once for all tests: to import torch is dear."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from distributed.ranks import Found, run

Results = Callable[[int, str], list[Any]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where ranks leave what they found."""
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="session")
def results_of(folder: Path) -> Results:
    """What each of 2 or 3 ranks found in a function; None of a rank that died in it."""

    @cache
    def found() -> dict[int, Found]:
        two = [
            "distributed.streams.every_case:float64",
            "distributed.streams.structured",
            "distributed.failures.one_rank_fails",
            f"distributed.failures.one_rank_is_lost:{folder / '2'}",
        ]
        return run({2: two, 3: ["distributed.streams.every_case:float32"]}, folder)

    return lambda size, name: found()[size][name]
