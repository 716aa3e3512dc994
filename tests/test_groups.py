"""Tests that share dear work run in one process."""

import pytest


@pytest.mark.xdist_group("together")
def test_a_group_is_known_to_the_processes_that_share_the_tests(
    request: pytest.FixtureRequest,
) -> None:
    if request.config.getoption("dist", "no") == "loadgroup":
        assert request.node.nodeid.endswith("@together"), (
            "this pytest and pytest-xdist ignore groups, so that fixtures are made in each process"
        )
