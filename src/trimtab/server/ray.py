"""Ray Serve: one model on several machines, each stream at home on one replica.

Streams are divided into shards by their ids. A shard is a deployment with one replica that runs
the application of ``trimtab serve``; an ingress hands it the requests of its streams. States are
in a folder that all machines share, so when a replica is killed, the one that Ray starts in its
place, on whichever machine, goes on from the checkpoints.

``trimtab serve --ray ADDRESS`` starts it; ``serve run trimtab.server.ray:app`` does the same with
the options in ``$TRIMTAB_SERVE``, a JSON object.
"""

import hashlib
import json
import logging
import os
import re
import signal
import threading
from typing import Any
from urllib.parse import unquote

import httpx
from ray import serve
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from trimtab.server.app import make_server_app
from trimtab.server.body import read_body
from trimtab.server.building import make_service
from trimtab.server.errors import RequestError
from trimtab.server.fence import Fence
from trimtab.server.limits import Limits
from trimtab.server.options import Options, default_options
from trimtab.server.protocol import HEADER_LENGTH, stream_in

log = logging.getLogger("trimtab.server")

ENVIRONMENT = "TRIMTAB_SERVE"
APP = "trimtab"
ONE_STREAM = re.compile(r"/v2/models/[^/]+/streams/([^/]+)(?:/[a-z]+)?")
ALL_STREAMS = re.compile(r"/v2/models/[^/]+/streams")
INFER = re.compile(r"/v2/models/[^/]+(?:/versions/1)?/infer")
PASSED_ON = ("authorization", "content-type", "x-request-id", HEADER_LENGTH)
SECONDS = 120.0

Reply = tuple[int, dict[str, str], bytes]


def shard_of(stream: str, shards: int) -> int:
    """Where a stream is at home, the same on every machine."""
    digest = hashlib.sha256(stream.encode()).digest()
    return int.from_bytes(digest[:8], "big") % shards


class Shard:
    """The streams of one shard, behind the application of ``trimtab serve``."""

    def __init__(self, options: Options, place: int) -> None:
        fence = None if options["store"] is None else Fence(options["store"], place)
        self._http: httpx.AsyncClient | None = None
        self._service = make_service(
            options, may_write=(lambda: True) if fence is None else fence.holds
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


def build(options: Options, shards: int) -> Any:
    """The Ray Serve application: an ingress and so many shards."""
    if options["store"] is None:
        raise ValueError("on a cluster states need --store, a folder that all machines share")
    limits = {name: options[name] for name in ("body_bytes", "body_seconds")}
    homes = [
        serve.deployment(
            name=f"shard-{place}",
            num_replicas=1,
            max_ongoing_requests=1000,
            graceful_shutdown_timeout_s=30,
            health_check_period_s=2,
        )(Shard).bind(options, place)
        for place in range(shards)
    ]
    front = serve.deployment(name="ingress", max_ongoing_requests=1000)(Ingress)
    return front.bind(limits, *homes)


def app(arguments: dict[str, str]) -> Any:
    """For ``serve run trimtab.server.ray:app``: options come from ``$TRIMTAB_SERVE``."""
    words = json.loads(os.environ.get(ENVIRONMENT, "{}")) | arguments
    shards = int(words.pop("replicas", 2))
    return build(default_options(**words), shards)


def serve_forever(options: Options, shards: int, *, address: str, host: str, port: int) -> int:
    """Serve on a cluster until SIGTERM or Ctrl-C."""
    import ray

    ray.init(
        address=None if address == "local" else address,
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
        runtime_env={"env_vars": {"OMP_NUM_THREADS": str(options["threads"])}},
    )
    serve.start(http_options={"host": host, "port": port})
    serve.run(build(options, shards), name=APP, route_prefix="/")
    print(f"trimtab: {shards} replicas behind http://{host}:{port}", flush=True)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        ended.wait()
    except KeyboardInterrupt:
        pass
    finally:
        serve.shutdown()  # type: ignore[no-untyped-call]
        ray.shutdown()
    return 0
