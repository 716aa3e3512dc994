"""Streams divided over replicas, without a cluster: the ingress and its shards, called directly."""

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.requests import Request

from trimtab.server.client import encoded
from trimtab.server.fence import Fence
from trimtab.server.options import default_options
from trimtab.server.protocol import HEADER_LENGTH
from trimtab.server.shards import Ingress, Reply, Shard, shard_of

MODEL = "fashion_resnet20_gn"
SHARDS = 2


class Handle:
    """What Ray puts between an ingress and a shard."""

    def __init__(self, shard: Shard) -> None:
        self.shard, self.gone = shard, False
        self.asked = 0

    @property
    def ask(self) -> "Handle":
        return self

    async def remote(self, *message: Any) -> Reply:
        if self.gone:
            raise RuntimeError("the replica died")
        self.asked += 1
        return await self.shard.ask(*message)


def options(store: Path) -> dict[str, Any]:
    return default_options(
        model=MODEL, method="tent", window=0, store=str(store), save_samples=1, resident=3
    )


def request(verb: str, path: str, body: bytes = b"", **headers: str) -> Request:
    path, _, query = path.partition("?")
    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    scope: dict[str, Any] = {"type": "http", "method": verb, "path": path, "headers": pairs}
    scope |= {"query_string": query.encode(), "server": ("127.0.0.1", 80), "scheme": "http"}
    return Request(scope, receive)


def infer(stream: str, number: int) -> Request:
    samples = [[[[0.1 * number] * 32] * 32] * 3]

    body, length = encoded(np.array(samples, np.float32), {"sequence_id": stream, "number": number})
    headers = {HEADER_LENGTH: str(length)}
    return request("POST", f"/v2/models/{MODEL}/infer", body, **headers)


def test_each_stream_lives_on_one_shard_and_goes_on_when_that_is_replaced(tmp_path: Path) -> None:
    names = [f"cam-{place}" for place in range(6)]

    async def told(ingress: Ingress, asked: Request) -> tuple[int, dict[str, Any]]:
        response = await ingress(asked)
        return response.status_code, json.loads(bytes(response.body))

    async def go() -> None:
        handles = [Handle(Shard(options(tmp_path), place)) for place in range(SHARDS)]
        ingress = Ingress({}, *handles)
        for number in (1, 2):
            for name in names:
                status, answer = await told(ingress, infer(name, number))
                assert status == 200
                assert answer["parameters"]["learned_through"] == number
        places = [shard_of(name, SHARDS) for name in names]
        assert {handle.asked for handle in handles} == {2 * places.count(p) for p in (0, 1)}
        status, listed = await told(ingress, request("GET", f"/v2/models/{MODEL}/streams"))
        assert [stream["id"] for stream in listed["streams"]] == names
        lost = places[0]
        handles[lost].gone = True
        status, answer = await told(ingress, infer(names[0], 3))
        assert (status, "being replaced" in answer["error"]) == (503, True)
        handles[lost].shard.__del__()  # what is left of it still saves

    asyncio.run(go())

    async def again() -> None:
        handles = [Handle(Shard(options(tmp_path), place)) for place in range(SHARDS)]
        ingress = Ingress({}, *handles)
        status, answer = await told(ingress, infer(names[0], 3))
        assert (status, answer["parameters"]["learned_through"]) == (200, 3)
        status, found = await told(
            ingress, request("GET", f"/v2/models/{MODEL}/streams/{names[0]}")
        )
        assert found["samples"] == 3

    asyncio.run(again())


def test_a_body_that_is_nonsense_gets_its_error_from_a_shard(tmp_path: Path) -> None:
    async def go() -> tuple[int, bytes]:
        ingress = Ingress({}, Handle(Shard(options(tmp_path), 0)))
        response = await ingress(request("POST", f"/v2/models/{MODEL}/infer", b"[[["))
        return response.status_code, bytes(response.body)

    status, body = asyncio.run(go())
    assert status == 400
    assert b"must be JSON" in body


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20")  # Ray's own
def test_the_application_for_ray_reads_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trimtab.server import ray as cluster

    words = {"store": str(tmp_path), "method": "tent", "replicas": 3}
    monkeypatch.setenv(cluster.ENVIRONMENT, json.dumps(words))
    assert cluster.app({}) is not None
    monkeypatch.setenv(cluster.ENVIRONMENT, json.dumps({"colour": "red"}))
    with pytest.raises(ValueError, match="no option colour"):
        cluster.app({})
    with pytest.raises(ValueError, match="--store"):
        cluster.build(default_options(), 2)


def test_of_two_owners_of_a_shard_the_later_one_writes(tmp_path: Path) -> None:
    first, other = Fence(tmp_path, 0), Fence(tmp_path, 1)
    assert first.holds()
    second = Fence(tmp_path, 0)
    assert not first.holds()
    assert second.holds()
    assert other.holds()
    (tmp_path / "shard-0.owner").unlink()
    assert not second.holds()
