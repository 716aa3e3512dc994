"""Wrong tokens, strangers' ids, floods, slow and cut connections: clear errors, nothing changed."""

import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from torch import Tensor, nn

import trimtab
from server.running import MODEL, running, service
from trimtab.server.client import ServerError
from trimtab.server.limits import Bucket, Limits
from trimtab.server.service import Service
from trimtab.server.tokens import Tokens

INFER = f"/v2/models/{MODEL}/infer"
ALL, LEFT = "a" * 20, "b" * 20


def body(images: Tensor, **parameters: object) -> bytes:
    tensor = {"name": "images", "shape": list(images.shape), "datatype": "FP32"}
    tensor["data"] = images.flatten().tolist()
    return json.dumps({"parameters": parameters, "inputs": [tensor]}).encode()


@pytest.fixture
def guarded(net: nn.Module, images: Tensor, tmp_path: Path) -> Iterator[str]:
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# who may do what\n{ALL}\n{LEFT} left-  # one tenant\n")
    with running(service(net, images, tokens=Tokens.read(tokens))) as url:
        yield url


def test_without_a_known_token_nothing_but_health_is_told(guarded: str, images: Tensor) -> None:
    for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": f"Basic {ALL}"}):
        for verb, path in (
            ("GET", "/v2"),
            ("GET", "/live"),
            ("GET", "/metrics"),
            ("GET", f"/v2/models/{MODEL}/streams"),
            ("DELETE", f"/v2/models/{MODEL}/streams/left-1"),
            ("POST", INFER),
        ):
            told = httpx.request(verb, guarded + path, headers=headers)
            assert told.status_code == 401
            assert "Bearer" in told.headers["WWW-Authenticate"]
            assert "token" in told.json()["error"]
    assert httpx.get(guarded + "/v2/health/ready").status_code == 200


def test_a_token_with_a_prefix_reaches_its_own_streams_only(guarded: str, images: Tensor) -> None:
    with (
        trimtab.Client(guarded, token=ALL) as everything,
        trimtab.Client(guarded, token=LEFT) as left,
    ):
        everything.infer(images[:4], stream="right-1")
        left.infer(images[:4], stream="left-1")
        for attempt in (
            lambda: left.infer(images[:4], stream="right-1"),
            lambda: left.stream("right-1"),
            lambda: left.reset("right-1"),
            lambda: left.delete("right-1"),
        ):
            with pytest.raises(ServerError, match="403"):
                attempt()
        assert [stream["id"] for stream in left.streams()] == ["left-1"]
        assert everything.stream("right-1")["samples"] == 4


@pytest.mark.parametrize("line", ["short", f"{'a' * 20} left- more", "", "# nothing but a remark"])
def test_a_file_of_tokens_that_says_nothing_sensible_is_refused(line: str, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(line)
    with pytest.raises(ValueError, match="token"):
        Tokens.read(tmp_path / "tokens")


def test_fuzzed_bodies_change_nothing(
    url: str, client: trimtab.Client, served: Service, images: Tensor
) -> None:
    client.infer(images[:4], stream="cam", number=1)
    assert served.streams.store is not None
    assert served.streams.store.flush(30)
    before = client.stream("cam")
    draw, good = random.Random(0), body(images[:1], sequence_id="cam", number="2")
    with httpx.Client(base_url=url) as http:
        for _ in range(300):
            bad = bytearray(good[: draw.randrange(1, len(good))])
            bad[draw.randrange(len(bad))] = draw.randrange(256)
            length = draw.choice(({}, {"Inference-Header-Content-Length": str(draw.randrange(99))}))
            told = http.post(INFER, content=bytes(bad), headers=length)
            assert told.status_code == 400
            assert set(told.json()) == {"error"}
    after = client.stream("cam")
    assert {**after, "idle_seconds": 0} == {**before, "idle_seconds": 0}
    assert len(client.streams()) == 1


@pytest.mark.parametrize(
    "stream", ["..%2F..%2Fetc%2Fpasswd", "%2e%2e", "a%00b", "%C3%A9", "a%20b", "x" * 65, "~source"]
)
def test_no_path_from_outside_reaches_the_file_system(
    url: str, served: Service, images: Tensor, tmp_path: Path, stream: str
) -> None:
    for verb in ("GET", "DELETE"):
        told = httpx.request(verb, f"{url}/v2/models/{MODEL}/streams/{stream}")
        assert told.status_code in (400, 404, 405)
        assert "error" in told.json()
    told = httpx.post(url + INFER, content=body(images[:1], sequence_id=f"../{stream}"))
    assert told.status_code == 400
    assert not served.streams.records
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_what_is_too_large_is_refused(net: nn.Module, images: Tensor) -> None:
    limits = Limits(body_bytes=20_000, request_samples=3)
    with running(service(net, images, limits=limits)) as url:
        told = httpx.post(url + INFER, content=b"x" * 20_001)
        assert told.status_code == 413
        chunks = (b"x" * 1000 for _ in range(30))  # no length is stated beforehand
        assert httpx.post(url + INFER, content=chunks).status_code == 413
        tensor = {"shape": [4, 3, 16, 16], "datatype": "UINT8", "data": [0] * 4 * 768}
        told = httpx.post(url + INFER, json={"inputs": [tensor]})
        assert (told.status_code, "split it" in told.json()["error"]) == (413, True)


def test_too_many_streams_are_refused_and_deleted_ones_make_room(
    net: nn.Module, images: Tensor
) -> None:
    with (
        running(service(net, images, limits=Limits(streams=2))) as url,
        trimtab.Client(url, patience=0) as client,
    ):
        for name in ("a", "b"):
            client.infer(images[:2], stream=name)
        with pytest.raises(ServerError, match="429: there are 2 streams already"):
            client.infer(images[:2], stream="c")
        client.delete("a")
        client.infer(images[:2], stream="c")


def test_a_stream_that_sends_too_fast_is_told_when_to_come_back(
    net: nn.Module, images: Tensor
) -> None:
    with running(service(net, images, limits=Limits(samples_per_second=0.01))) as url:
        sent = [
            httpx.post(url + INFER, content=body(images[:2], sequence_id="cam")) for _ in range(2)
        ]
        assert [told.status_code for told in sent] == [200, 429]
        assert 1 <= int(sent[1].headers["Retry-After"]) <= 200
        other = httpx.post(url + INFER, content=body(images[:2], sequence_id="other"))
        assert other.status_code == 200


def test_a_bucket_fills_up_again() -> None:
    now = [0.0]
    bucket = Bucket(10, lambda: now[0])
    assert bucket.take(20) == 0
    assert bucket.take(5) == pytest.approx(0.5)
    now[0] = 0.5
    assert bucket.take(5) == 0
    now[0] = 100.0
    assert bucket.take(1000) == 0  # more than ever fits passes a full bucket
    assert bucket.take(1) == pytest.approx(98.1)


@pytest.mark.slow
def test_slow_and_cut_connections_disturb_nobody(net: nn.Module, images: Tensor) -> None:
    limits = Limits(body_seconds=2)
    with (
        running(service(net, images, limits=limits)) as url,
        trimtab.Client(url) as client,
        ExitStack() as opened,
    ):
        host, port = url.removeprefix("http://").split(":")
        sockets = [
            opened.enter_context(socket.create_connection((host, int(port)), 30)) for _ in range(12)
        ]
        head = f"POST {INFER} HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\n{{"
        for place, slow in enumerate(sockets):
            slow.sendall(head.encode() if place % 3 else b"POST /v2/mod")
            if place % 2:
                slow.close()
        for number in range(5):
            assert client.infer(images[:2], stream="cam", number=number + 1).learned
        told = b""
        while b"did not arrive" not in told:
            part = sockets[4].recv(4096)
            assert part, told
            told += part
        assert told.startswith(b"HTTP/1.1 408")
        assert [stream["id"] for stream in client.streams()] == ["cam"]


def test_a_full_queue_answers_429_and_what_was_taken_is_answered(
    net: nn.Module, images: Tensor
) -> None:
    served = service(net, images, limits=Limits(queued_requests_per_stream=2), max_batch=2)
    statuses: list[int] = []
    with running(served) as url:

        def send() -> None:
            content = body(images[:2], sequence_id="cam")
            statuses.append(httpx.post(url + INFER, content=content, timeout=30).status_code)

        threads = [threading.Thread(target=send) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with trimtab.Client(url) as client:
            assert client.stream("cam")["samples"] == 2 * statuses.count(200)
    assert set(statuses) <= {200, 429}
    assert statuses.count(200) >= 3


def test_one_streams_bad_inputs_leave_the_others_of_a_round_alone(
    client: trimtab.Client, images: Tensor
) -> None:
    client.infer(images[:4], stream="good", number=1)
    with pytest.raises(ServerError, match="finite"):
        client.infer(images[:4] * float("inf"), stream="bad", number=1)
    assert client.infer(images[:4], stream="good", number=2).learned
    assert [stream["id"] for stream in client.streams()] == ["good"]
