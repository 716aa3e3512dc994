"""The write-ahead log of rounds, and replays of it."""

import resource
import threading
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import trimtab
from same import assert_same
from server.running import running, service
from trimtab.core import saved
from trimtab.server.building import make_service
from trimtab.server.client import ServerError
from trimtab.server.journal import Entry, Journal, read
from trimtab.server.options import default_options
from trimtab.server.replay import Replay

STREAMS = 5


def sent(images: Tensor, stream: str, number: int) -> Tensor:
    first = (3 * int(stream.removeprefix("cam-")) + 5 * number) % (len(images) - 3)
    return images[first : first + 3]


def send_at_once(url: str, images: Tensor, numbers: range) -> None:
    """Each stream's requests, from a thread for each stream."""

    def follow(stream: str) -> None:
        with trimtab.Client(url) as client:
            for number in numbers:
                client.infer(sent(images, stream, number), stream=stream, number=number)

    threads = [threading.Thread(target=follow, args=(f"cam-{i}",)) for i in range(STREAMS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def replayed(net: nn.Module, images: Tensor, journal: Path) -> tuple[Replay, int]:
    """A replay of all rounds, and how many streams the largest of them had."""

    def inputs(entry: Entry) -> Tensor:
        assert entry.stream is not None
        assert entry.number is not None
        return sent(images, entry.stream, entry.number)

    replay, largest = Replay(trimtab.fleet(net, "tent"), inputs), 0
    for entries, _ in read(journal):
        replay.play(entries)
        largest = max(largest, len(entries))
    return replay, largest


def test_streams_that_stepped_together_are_bit_equal_to_a_replay_of_their_rounds(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    journal = Journal(tmp_path / "rounds")
    with running(service(net, images, tmp_path / "store", journal=journal)) as url:
        send_at_once(url, images, range(1, 5))
    replay, largest = replayed(net, images, tmp_path / "rounds")
    assert largest > 1
    for stream in (f"cam-{i}" for i in range(STREAMS)):
        kept = trimtab.fleet(net, "tent")[stream]
        kept.load(next((tmp_path / "store").glob(f"*{stream}*.safetensors")))
        assert_same(kept.state_dict(), replay.state(stream, (4, kept.counters.samples)))


def test_a_replay_goes_back_where_a_killed_server_had_lost_something(
    net: nn.Module, images: Tensor
) -> None:
    lost = [Entry("cam-1", n, 3, n - 1 or None, 3 * (n - 1), True, True) for n in (1, 2, 3)]
    again = [Entry("cam-1", n, 3, n - 1, 3 * (n - 1), True, True) for n in (2, 3)]
    replay = Replay(trimtab.fleet(net, "tent"), lambda e: sent(images, "cam-1", e.number or 0))
    for entry in lost + again:
        replay.play([entry])
    alone = trimtab.fleet(net, "tent")
    for number in (1, 2, 3):
        alone.step({"cam-1": sent(images, "cam-1", number)})
    alone["cam-1"].state.learned_through = 3
    assert_same(replay.state("cam-1", (3, 9)), alone["cam-1"].state_dict())
    with pytest.raises(ValueError, match="does not say how cam-1 came to number 7"):
        replay.play([Entry("cam-1", 8, 3, 7, 21, True, True)])


@pytest.mark.slow
def test_a_frozen_stream_a_fresh_start_and_the_source_model_are_replayed(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    served = service(net, images, tmp_path / "store", journal=Journal(tmp_path / "rounds"))
    with running(served) as url, trimtab.Client(url) as client:
        client.infer(sent(images, "cam-1", 1), stream="cam-1", number=1)
        client.infer(sent(images, "cam-1", 1))
        client.freeze("cam-1")
        client.infer(sent(images, "cam-1", 2), stream="cam-1", number=2)
        client.freeze("cam-1", False)
        client.infer(sent(images, "cam-1", 3), stream="cam-1", number=3, start=True)
        client.infer(sent(images, "cam-1", 4), stream="cam-1", number=4, learn=False)
        client.infer(sent(images, "cam-1", 5), stream="cam-1", number=5)
        held = served.streams.fleet["cam-1"].state_dict()
        seen = served.streams.fleet["cam-1"].counters.samples
    replay = Replay(trimtab.fleet(net, "tent"), lambda e: sent(images, "cam-1", e.number or 0))
    rounds = [entries for entries, _ in read(tmp_path / "rounds")]
    for entries in rounds:
        replay.play(entries)
    assert [entry.learns for entries in rounds for entry in entries] == [1, 0, 0, 1, 0, 1]
    assert_same(held, replay.state("cam-1", (5, seen)))


def test_a_line_that_a_kill_has_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rounds"
    first, last = Entry("cam-1", 1, 2), Entry("cam-1", 2, 2, 1, 2, True, True)
    journal = Journal(path)
    journal.note([first])
    journal.note([last])
    journal.settle()
    journal.close()
    path.write_bytes(path.read_bytes()[:-9])
    going_on = Journal(path)
    going_on.note([last])
    going_on.close()
    assert [entries for entries, _ in read(path)] == [[first], [last]]
    place = next(place for _, place in read(path))
    assert [entries for entries, _ in read(path, place)] == [[last]]


def test_a_round_that_does_not_fit_on_the_disk_is_an_error_and_spoils_no_later_one(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rounds"
    first, last = Entry("cam-1", 1, 2), Entry("cam-1", 2, 2, 1, 2, True, True)
    journal = Journal(path)
    journal.note([first])
    least, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, most))
    try:
        with pytest.raises(OSError, match="no room for the journal"):
            journal.note([last])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (least, most))
    journal.note([last])
    journal.close()
    assert [entries for entries, _ in read(path)] == [[first], [last]]


def test_a_round_that_cannot_be_noted_leaves_all_of_its_streams_as_they_were(
    net: nn.Module, images: Tensor
) -> None:
    full = False

    class Noting:
        def note(self, entries: object) -> None:
            if full:
                raise OSError("the disk is full")

        def close(self) -> None:
            return

    served = service(net, images, journal=Noting())
    with running(served) as url, trimtab.Client(url) as client:
        client.infer(images[:8], stream="cam-1")
        before = served.streams.fleet["cam-1"].state_dict()
        full = True
        for stream in ("cam-1", "cam-2"):
            with pytest.raises(ServerError, match="nothing was learned"):
                client.infer(images[8:16], stream=stream, start=True)
        assert_same(served.streams.fleet["cam-1"].state_dict(), before)
        assert [found["id"] for found in client.streams()] == ["cam-1"]


def test_a_round_is_noted_before_it_is_computed(net: nn.Module, images: Tensor) -> None:
    order: list[str] = []

    class Noting:
        def note(self, entries: object) -> None:
            order.append("noted")

        def close(self) -> None:
            order.append("closed")

    served = service(net, images, journal=Noting())
    stepped = served.streams.fleet.step
    served.streams.fleet.step = lambda *a, **k: order.append("step") or stepped(*a, **k)
    with running(served) as url, trimtab.Client(url) as client:
        client.infer(torch.zeros_like(images[:1]), stream="cam-1")
    assert order == ["noted", "step", "closed"]


def test_rounds_are_on_the_disk_before_a_state_that_they_led_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    options = default_options(
        model="fashion_resnet20_gn", store=str(tmp_path), journal=str(tmp_path / "rounds")
    )
    streams = make_service(options).streams
    store, journal = streams.store, streams.journal
    assert store is not None
    assert journal is not None
    monkeypatch.setattr(Journal, "settle", lambda journal: order.append("settled"))
    monkeypatch.setattr(saved, "write", lambda *_, **__: order.append("written"))
    store.put("cam", {"learned_through": 1})
    assert store.flush(10)
    store.close()
    journal.close()
    assert order == ["settled", "written"]
