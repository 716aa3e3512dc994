"""Numbers, checkpoints and what a stream says it has learned."""

import shutil
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trimtab
from same import assert_same
from server.running import running, service
from trimtab.server.client import ServerError
from trimtab.server.follower import Follower
from trimtab.server.limits import Limits
from trimtab.server.service import Service
from trimtab.server.streams import Saving


def settled(served: Service) -> None:
    store = served.streams.store
    assert store is not None
    assert store.flush(10)


def test_a_request_sent_again_is_answered_and_not_learned_from(
    client: trimtab.Client, images: Tensor
) -> None:
    for number in (1, 2):
        assert client.infer(images[:8], stream="cam", number=number).learned
    samples = client.stream("cam")["samples"]
    again = client.infer(images[:8], stream="cam", number=2)
    assert again.logits.shape == (8, 7)
    assert not again.learned
    assert again.learned_through == 2
    assert client.stream("cam")["samples"] == samples


def test_a_stream_has_not_learned_from_samples_that_were_all_refused(
    client: trimtab.Client, images: Tensor
) -> None:
    for batch in images.split(8)[:3]:
        assert client.infer(batch, stream="cam").learned
    assert not client.infer(images[:8] * 255, stream="cam").learned
    partly = torch.cat([images[:4], images[4:8] * 255])
    assert client.infer(partly, stream="cam").learned


def test_a_server_that_is_gone_is_named() -> None:
    with pytest.raises(ConnectionError, match=r"no answer from http://127\.0\.0\.1:9"):
        trimtab.Client("http://127.0.0.1:9")


@pytest.mark.parametrize("asked", ["Wed, 21 Oct 2026 07:28:00 GMT", "nan", "-1", "", "0.01"])
def test_a_client_bears_what_a_proxy_says_of_when_to_come_back(
    asked: str, client: trimtab.Client, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [httpx.Response(503, headers={"Retry-After": asked})]
    request, pauses = httpx.Client.request, list[float]()

    def proxied(*words: Any, **options: Any) -> httpx.Response:
        answer = answers.pop() if answers else request(*words, **options)
        answer.headers.setdefault("Retry-After", asked)
        return answer

    monkeypatch.setattr(httpx.Client, "request", proxied)
    monkeypatch.setattr("trimtab.server.client.time.sleep", pauses.append)
    assert client.infer(images[:2], stream="cam").learned
    assert pauses == [0.01 if asked == "0.01" else 1.0]


def test_answers_say_through_which_number_a_stream_is_durable(
    client: trimtab.Client, served: Service, images: Tensor
) -> None:
    client.infer(images[:8], stream="cam", number=5)
    settled(served)
    answer = client.infer(images[8:16], stream="cam", number=6)
    assert answer.learned_through == 6
    assert answer.durable_through in (5, 6)
    settled(served)
    assert client.stream("cam")["durable_through"] == 6


def test_a_stream_goes_on_after_a_restart_bit_for_bit(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    alone = trimtab.fleet(net, "tent")
    for first in range(0, 32, 8):
        batch = images[first : first + 8]
        with running(service(net, images, tmp_path)) as url, trimtab.Client(url) as client:
            found = client.infer(batch, stream="cam", number=first).logits
        logits = alone.step({"cam": batch})["cam"]
        assert isinstance(logits, Tensor)
        assert np.array_equal(found, logits.numpy())
    restored = trimtab.fleet(net, "tent")["cam"]
    restored.load(next(tmp_path.glob("*.safetensors")))
    assert restored.state.learned_through == 24
    alone["cam"].state.learned_through = 24
    assert_same(restored.state_dict(), alone["cam"].state_dict())


def test_a_request_that_must_come_after_a_lost_one_is_refused(
    client: trimtab.Client, images: Tensor
) -> None:
    client.infer(images[:8], stream="cam", number=1)
    with pytest.raises(ServerError, match="has learned through 1, not 2"):
        client.infer(images[:8], stream="cam", number=3, after=2)
    with pytest.raises(ServerError, match="has learned through None"):
        client.infer(images[:8], stream="new", number=3, after=2)
    assert [stream["id"] for stream in client.streams()] == ["cam"]


def test_a_follower_sends_again_what_a_crash_has_lost(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    batches, old = list(images[:32].split(8)), tmp_path / "old"
    rarely = Saving(samples=16, seconds=1000)  # every second request
    with (
        running(service(net, images, tmp_path / "store", saving=rarely)) as url,
        trimtab.Client(url) as client,
    ):
        follower = Follower(client, "cam")
        follower(batches[0])
        follower(batches[1])
        wait_until_durable(client, 2)
        shutil.copytree(tmp_path / "store", old)  # all that a crash from here on would leave
        follower(batches[2])
    with running(service(net, images, old)) as url, trimtab.Client(url) as client:
        follower.client = client
        follower(batches[3])
        found = client.stream("cam")
        assert (found["learned_through"], found["samples"]) == (4, 32)


def test_a_follower_sends_again_what_was_taken_and_nothing_that_was_refused(
    net: nn.Module, images: Tensor
) -> None:
    with running(service(net, images)) as url, trimtab.Client(url) as client:
        follower = Follower(client, "cam")
        frame = np.empty((8, *images.shape[1:]), np.float32)
        for batch in images[:16].split(8):
            with pytest.raises(ServerError, match="400"):
                follower(frame[:, :1])
            frame[:] = batch  # one buffer for all
            follower(frame)
    later = service(net, images)  # one that knows nothing of the stream
    with running(later) as url, trimtab.Client(url) as client:
        follower.client = client
        follower(images[16:24])
        found = later.streams.fleet["cam"].params
    alone = trimtab.fleet(net, "tent")["cam"]
    for batch in images[:24].split(8):
        alone(batch)
    assert_same(dict(found), dict(alone.params))


def wait_until_durable(client: trimtab.Client, number: int) -> None:
    for _ in range(1000):
        if client.stream("cam")["durable_through"] == number:
            return
    raise AssertionError(f"never durable through {number}")


def test_a_frozen_stream_answers_and_learns_nothing_also_after_a_restart(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    with running(service(net, images, tmp_path)) as url, trimtab.Client(url) as client:
        client.infer(images[:8], stream="cam", number=1)
        assert client.freeze("cam")["frozen"]
        assert not client.infer(images[:8], stream="cam", number=2).learned
    with running(service(net, images, tmp_path)) as url, trimtab.Client(url) as client:
        assert not client.infer(images[:8], stream="cam", number=3).learned
        assert client.stream("cam")["samples"] == 8
        client.freeze("cam", False)
        assert not client.infer(images[:8], stream="cam", number=3).learned
        assert client.infer(images[:8], stream="cam", number=4).learned


def test_a_reset_goes_back_to_the_source_and_remembers_numbers(
    client: trimtab.Client, net: nn.Module, images: Tensor
) -> None:
    fresh = trimtab.fleet(net, "tent")["cam"](images[:8]).numpy()
    client.infer(images[8:40], stream="cam", number=7)
    assert client.reset("cam")["learned_through"] == 7
    assert np.array_equal(client.infer(images[:8], stream="cam", number=8).logits, fresh)


def test_a_rollback_goes_back_to_a_snapshot_and_remembers_numbers(
    client: trimtab.Client, images: Tensor
) -> None:
    client.infer(images[:8], stream="cam", number=1)
    assert client.snapshot("cam", "monday")["snapshot"] == "monday"
    before = client.infer(images[8:16], stream="cam", learn=False).logits
    client.infer(images[:32], stream="cam", number=2)
    assert not np.array_equal(client.infer(images[8:16], stream="cam", learn=False).logits, before)
    told = client.rollback("cam", "monday")
    assert told["learned_through"] == 2
    assert [kept["name"] for kept in told["history"]] == ["monday"]
    assert np.array_equal(client.infer(images[8:16], stream="cam", learn=False).logits, before)
    with pytest.raises(ServerError, match="409"):
        client.rollback("cam", "tuesday")


def test_a_started_sequence_begins_anew_unless_the_request_is_a_repeated_one(
    client: trimtab.Client, net: nn.Module, images: Tensor
) -> None:
    fresh = trimtab.fleet(net, "tent")["cam"](images[:8]).numpy()
    client.infer(images[8:40], stream="cam", number=1)
    repeated = client.infer(images[:8], stream="cam", number=1, start=True)
    assert not np.array_equal(repeated.logits, fresh)
    begun = client.infer(images[:8], stream="cam", number=2, start=True)
    assert np.array_equal(begun.logits, fresh)


def test_a_damaged_file_is_named_and_the_stream_can_be_deleted(
    client: trimtab.Client, served: Service, images: Tensor, tmp_path: Path
) -> None:
    client.infer(images[:8], stream="cam", number=1, end=True)
    settled(served)
    path = next(tmp_path.glob("store/*.safetensors"))
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(ServerError, match="checksum"):
        client.infer(images[:8], stream="cam", number=2)
    assert path.read_bytes() == content
    client.delete("cam")
    assert not path.exists()
    assert client.infer(images[:8], stream="cam", number=1).learned


def test_a_state_of_another_method_is_refused(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    with running(service(net, images, tmp_path)) as url, trimtab.Client(url) as client:
        client.infer(images[:8], stream="cam")
    with (
        running(service(net, images, tmp_path, method="roid")) as url,
        trimtab.Client(url) as client,
        pytest.raises(ServerError, match="belongs to another stream"),
    ):
        client.infer(images[:8], stream="cam")


def test_more_streams_than_fit_go_on_from_their_files(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    limits = Limits(resident=2)
    alone = trimtab.fleet(net, "tent")
    with (
        running(service(net, images, tmp_path, limits=limits, max_batch=8)) as url,
        trimtab.Client(url) as client,
    ):
        for first in range(0, 48, 8):
            for name in ("a", "b", "c", "d"):
                found = client.infer(images[first : first + 8], stream=name).logits
                expected = alone.step({name: images[first : first + 8]})[name]
                assert torch.equal(torch.from_numpy(found), expected)  # type: ignore[arg-type]
        assert sum(stream["resident"] for stream in client.streams()) == 2
        assert {stream["id"] for stream in client.streams()} == {"a", "b", "c", "d"}
