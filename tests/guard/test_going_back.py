"""A guard goes back to the same state, whether the stream was saved before or not."""

import torch

import trimtab
from guard.test_guarded_streams import Painted, Spoils, feed, images
from same import assert_same
from trimtab.core.adapter import Adapter

BACKBONE = trimtab.Backbone(Painted())


def adapter_with_window() -> Adapter:
    method = trimtab.build("tent").plus(Spoils())
    return trimtab.adapt(BACKBONE, method, guard=trimtab.Guard(cost=0.3), window=50)


def blessed() -> Adapter:
    """A stream that was blessed while samples waited in its window."""
    Spoils.switch = [False]
    adapter = adapter_with_window()
    while adapter.state.blessed is None:
        adapter(images(32, adapter.counters.samples))
    assert adapter.window.inputs
    return adapter


def test_what_waited_when_a_state_was_blessed_is_no_reason_to_differ_after_a_load() -> None:
    adapter, other = blessed(), adapter_with_window()
    other.load_state_dict(adapter.state_dict())
    for stream in (adapter, other):
        Spoils.switch[0] = True
        while not stream.health.rollbacks:
            stream(images(32, stream.counters.samples))
        Spoils.switch[0] = False
        feed(stream, 2)
    assert_same(other.state_dict(), adapter.state_dict())


def test_a_blessed_state_that_was_loaded_follows_the_stream_on() -> None:
    adapter, other = blessed(), adapter_with_window()
    other.load_state_dict(adapter.state_dict())
    for stream in (adapter, other):
        stream.rollback(stream.history[-1])
    assert other.state.shown == adapter.state.shown
    assert other.pace == adapter.pace
    assert torch.equal(other(images(32, 1)), adapter(images(32, 1)))
