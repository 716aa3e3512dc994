"""From options to a served model."""

import pytest

from trimtab import Guard
from trimtab.server.building import make_service
from trimtab.server.options import default_options


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("threads", 0, "threads must be at least 1 thread"),
        ("max_batch", 0, "max_batch must be at least 1 sample"),
        ("max_delay_ms", -5.0, "max_delay_seconds must be 0 or more"),
        ("save_samples", 0, "save_samples must be at least 1 sample"),
        ("save_seconds", -1.0, "save_seconds must be 0 or more"),
        ("name", "nets/mine", "give another --name, without /"),
    ],
)
def test_options_that_no_server_can_follow_are_refused(
    option: str, value: object, expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        make_service(default_options(model="fashion_resnet20_gn", **{option: value}))


def test_streams_have_a_guard_where_it_is_asked_for() -> None:
    small = {"model": "fashion_resnet20_gn", "method": "tent"}
    plain, watched = (
        make_service(default_options(**small, guard=guard)) for guard in (False, True)
    )
    assert plain.streams.fleet["cam-1"].guard is None
    assert watched.streams.fleet["cam-1"].guard == Guard()
