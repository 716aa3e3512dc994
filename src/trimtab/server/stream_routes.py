"""HTTP endpoints of streams: list, look at, delete, reset, freeze, snapshot, roll back."""

from bisect import bisect_right
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from fastapi import FastAPI, Query, Request

from trimtab.server import control, inspection, openapi
from trimtab.server.access import check_model, owner_of
from trimtab.server.body import read_words
from trimtab.server.errors import RequestError
from trimtab.server.protocol import stream_id
from trimtab.server.service import Service
from trimtab.server.streams import Streams

STREAMS = "/v2/models/{model}/streams"
Do = Callable[..., dict[str, Any]]
Route = Callable[..., Awaitable[dict[str, Any]]]


def add_stream_routes(app: FastAPI, service: Service) -> None:
    """Add the endpoints to the application."""
    _add_list(app, service)
    one = STREAMS + "/{stream}"
    known = openapi.errors(400, 401, 403, 404, 409)
    app.get(one, tags=["streams"], responses=known)(_look(service, inspection.described))
    app.delete(one, tags=["streams"], responses=known)(_look(service, control.delete))
    for verb, (do, properties) in VERBS.items():
        app.post(
            f"{one}/{verb}",
            tags=["streams"],
            responses=known,
            openapi_extra=openapi.words(**properties),
        )(_act(service, do))


def _add_list(app: FastAPI, service: Service) -> None:
    @app.get(STREAMS, tags=["streams"], responses=openapi.errors(400, 401, 404))
    async def list_streams(
        request: Request,
        model: str,
        after: str = Query("", max_length=64, description="list streams whose ids come later"),
        limit: int = Query(100, ge=1, le=10_000),
    ) -> dict[str, Any]:
        check_model(service, model)
        owner = owner_of(service, request)
        names = sorted(name for name in list(service.streams.known) if owner.owns(name))
        names = names[bisect_right(names, after) :]
        return {
            "streams": inspection.listed(service.streams, names[:limit]),
            "more": len(names) > limit,
        }


def _allowed(service: Service, request: Request, model: str, stream: str) -> str:
    check_model(service, model)
    owner = owner_of(service, request)
    stream = stream_id(stream)
    owner.check(stream)
    request.state.stream = stream
    return stream


def _look(service: Service, do: Do) -> Route:
    async def look(request: Request, model: str, stream: str) -> dict[str, Any]:
        stream = _allowed(service, request, model, stream)
        found: dict[str, Any] = await service.errand(stream, partial(do, service.streams, stream))
        return found

    look.__name__ = f"{do.__name__}_stream"
    return look


def _act(service: Service, do: Do) -> Route:
    async def act(request: Request, model: str, stream: str) -> dict[str, Any]:
        stream = _allowed(service, request, model, stream)
        words = await read_words(request, service.settings.limits)
        errand = partial(do, service.streams, stream, words)
        found: dict[str, Any] = await service.errand(stream, errand)
        return found

    act.__name__ = do.__name__.lstrip("_")
    return act


def _reset_stream(streams: Streams, stream: str, words: dict[str, Any]) -> dict[str, Any]:
    return control.reset(streams, stream)


def _freeze_stream(streams: Streams, stream: str, words: dict[str, Any]) -> dict[str, Any]:
    frozen = words.get("frozen", True)
    if not isinstance(frozen, bool):
        raise RequestError(400, "frozen must be true or false")
    return control.freeze(streams, stream, frozen)


def _snapshot_stream(streams: Streams, stream: str, words: dict[str, Any]) -> dict[str, Any]:
    return control.snapshot(streams, stream, _name(words, "name"))


def _rollback_stream(streams: Streams, stream: str, words: dict[str, Any]) -> dict[str, Any]:
    return control.rollback(streams, stream, _name(words, "to"))


def _name(words: dict[str, Any], key: str) -> str | None:
    name = words.get(key)
    if name is not None and not (isinstance(name, str) and 0 < len(name) <= 64):
        raise RequestError(400, f"{key} must be a name of 1 to 64 letters")
    return name


_NAME = {"type": "string", "minLength": 1, "maxLength": 64}

VERBS: dict[str, tuple[Do, dict[str, Any]]] = {
    "snapshot": (_snapshot_stream, {"name": _NAME}),
    "rollback": (_rollback_stream, {"to": _NAME}),
    "reset": (_reset_stream, {}),
    "freeze": (_freeze_stream, {"frozen": {"type": "boolean", "default": True}}),
}
"""What may be done with a stream, and what its body may say."""
