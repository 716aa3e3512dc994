"""Ranks are started once for all tests: to import torch is dear."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from distributed.ranks import run

Results = Callable[[int, str], list[Any]]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where ranks leave what they found."""
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="session")
def results_of(folder: Path) -> Results:
    """What each of 2 or 3 ranks found in a function; None of a rank that died in it."""

    @cache
    def ranks(size: int) -> dict[str, list[Any]]:
        place = folder / str(size)
        place.mkdir()
        if size == 3:
            return run(["distributed.streams.every_case:float32"], size, place)
        return run(
            [
                "distributed.streams.every_case:float64",
                "distributed.streams.structured",
                "distributed.failures.one_rank_fails",
                f"distributed.failures.one_rank_is_lost:{place}",
            ],
            size,
            place,
        )

    return lambda size, name: ranks(size)[name]
