"""Streams divided into shards by their ids, and the ingress that finds a request's shard.

A shard runs the application of ``trimtab serve`` for its streams. Who starts shards and carries
messages to them is somebody else's business: Ray Serve's in ``trimtab.server.ray``.
"""

import hashlib
import json
import logging
import os
import re
from typing import Any
from urllib.parse import unquote

import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from trimtab.freed_memory import keep_freed_memory
from trimtab.server.app import make_server_app
from trimtab.server.body import read_body
from trimtab.server.building import make_service
from trimtab.server.errors import RequestError
from trimtab.server.fence import Fence
from trimtab.server.limits import Limits
from trimtab.server.options import Options
from trimtab.server.protocol import HEADER_LENGTH, stream_in

log = logging.getLogger("trimtab.server")

ONE_STREAM = re.compile(r"/v2/models/[^/]+/streams/([^/]+)(?:/[a-z]+)?")
ALL_STREAMS = re.compile(r"/v2/models/[^/]+/streams")
INFER = re.compile(r"/v2/models/[^/]+(?:/versions/1)?/infer")
PASSED_ON = ("authorization", "content-type", "x-request-id", HEADER_LENGTH)

Reply = tuple[int, dict[str, str], bytes]
"""Status, headers and body."""


def shard_of(stream: str, shards: int) -> int:
    """Where a stream is at home, the same on every machine."""
    digest = hashlib.sha256(stream.encode()).digest()
    return int.from_bytes(digest[:8], "big") % shards


class Shard:
    """The streams of one shard, behind the application of ``trimtab serve``."""

    def __init__(self, options: Options, place: int) -> None:
        keep_freed_memory()
        fence = None if options["store"] is None else Fence(options["store"], place)
        self._http: httpx.AsyncClient | None = None
        journal = options["journal"] and f"{options['journal']}.{place}"
        self._service = make_service(
            options | {"journal": journal},
            may_write=(lambda: True) if fence is None else fence.holds,
        )
        self._app = make_server_app(self._service)

    async def ask(self, verb: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
        """Answer one HTTP request."""
        if self._http is None:
            self._service.start()
            transport = httpx.ASGITransport(self._app)
            self._http = httpx.AsyncClient(transport=transport, base_url="http://shard")
        told = await self._http.request(verb, target, headers=headers, content=body)
        kept = {name: value for name, value in told.headers.items() if name != "content-length"}
        return told.status_code, kept, told.content

    def process(self) -> int:
        """The replica's process id."""
        return os.getpid()

    def __del__(self) -> None:
        """Drain and save when Ray ends the replica."""
        if self._http is not None:
            self._service.finish()


class Ingress:
    """Hands each request to the shard of its stream; lists are put together from all of them."""

    def __init__(self, limits: dict[str, Any], *shards: Any) -> None:
        self._limits = Limits(**limits)
        self._shards = shards

    async def __call__(self, request: Request) -> Response:
        try:
            body = await read_body(request, self._limits)
        except RequestError as error:
            return JSONResponse({"error": str(error)}, error.status, error.headers)
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        message = (request.method, target, headers, body)
        if request.method == "GET" and ALL_STREAMS.fullmatch(request.url.path):
            return await self._listed(message, int(request.query_params.get("limit", "100")))
        place = self._place(request.url.path, headers, body, request.query_params.get("shard"))
        status, told, content = await self._ask(place, message)
        return Response(content, status, told)

    async def _ask(self, place: int, message: tuple[str, str, dict[str, str], bytes]) -> Reply:
        """A shard's answer; 503 while its replica is being replaced."""
        try:
            reply: Reply = await self._shards[place].ask.remote(*message)
        except Exception as error:  # Ray has many ways to say that a replica is gone
            log.warning("shard %d does not answer: %s", place, type(error).__name__)
            said = json.dumps({"error": "this stream's replica is being replaced; try again"})
            return 503, {"Retry-After": "1", "content-type": "application/json"}, said.encode()
        return reply

    def _place(self, path: str, headers: dict[str, str], body: bytes, shard: str | None) -> int:
        """The shard of a request; those that belong to no stream go to any, or to the named one."""
        named = ONE_STREAM.fullmatch(path)
        stream = unquote(named[1]) if named else None
        if INFER.fullmatch(path):
            stream = stream_in(body, headers.get(HEADER_LENGTH))
        if stream is not None:
            return shard_of(stream, len(self._shards))
        chosen = int(shard) if shard is not None and re.fullmatch(r"[0-9]{1,4}", shard) else 0
        return chosen % len(self._shards)

    async def _listed(
        self, message: tuple[str, str, dict[str, str], bytes], limit: int
    ) -> Response:
        """Streams of all shards in one list. Each shard knows all files, so each names its own."""
        found: dict[str, Any] = {}
        more = False
        for place in range(len(self._shards)):
            status, told, content = await self._ask(place, message)
            if status != 200:
                return Response(content, status, told)
            page = json.loads(content)
            more = more or page["more"]
            own = [s for s in page["streams"] if shard_of(s["id"], len(self._shards)) == place]
            found |= {stream["id"]: stream for stream in own}
        names = sorted(found)
        streams = [found[name] for name in names[:limit]]
        return JSONResponse({"streams": streams, "more": more or len(names) > limit})
