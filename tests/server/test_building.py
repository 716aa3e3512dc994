"""From options to a served model."""

from trimtab import Guard
from trimtab.server.building import make_service
from trimtab.server.options import default_options


def test_streams_have_a_guard_where_it_is_asked_for() -> None:
    small = {"model": "fashion_resnet20_gn", "method": "tent"}
    plain, watched = (
        make_service(default_options(**small, guard=guard)) for guard in (False, True)
    )
    assert plain.streams.fleet["cam-1"].guard is None
    assert watched.streams.fleet["cam-1"].guard == Guard()
