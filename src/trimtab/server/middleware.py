"""Around every request: its id, one line in the log, and errors as ``{"error": ...}``."""

import logging
import time
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trimtab.server.errors import RequestError
from trimtab.server.logs import request_id

log = logging.getLogger("trimtab.server")


def install_errors(app: FastAPI) -> None:
    """Every error is a JSON object with a sentence, whoever raised it."""

    @app.exception_handler(RequestError)
    async def refused(request: Request, error: RequestError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, error.status, error.headers)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse({"error": str(error.detail)}, error.status_code, error.headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        wrong = "; ".join(f"{part['loc'][-1]}: {part['msg']}" for part in error.errors())
        return JSONResponse({"error": wrong}, 400)


class Envelope:
    """Gives requests their ids, writes the access log, and answers 500 where all else failed."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.monotonic(), 0
        name = request_id(_header(scope, b"x-request-id"))
        scope.setdefault("state", {})["request_id"] = name

        async def tagged(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", name.encode())]
            await send(message)

        try:
            await self.app(scope, receive, tagged)
        except Exception:
            log.exception("a request failed", extra={"request_id": name})
            if not status:
                answer = {"error": f"an internal error; the log has it under {name}"}
                await JSONResponse(answer, 500)(scope, receive, tagged)
        finally:
            self._log(scope, name, status, time.monotonic() - began)

    def _log(self, scope: Scope, name: str, status: int, seconds: float) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        fields: dict[str, Any] = {
            "request_id": name,
            "verb": scope["method"],
            "path": scope["path"],
            "status": status,
            "milliseconds": round(1000 * seconds, 2),
        }
        stream = scope["state"].get("stream")
        if stream is not None:
            fields["stream"] = stream
        log.info("request", extra=fields)


def _header(scope: Scope, name: bytes) -> str | None:
    found = next((value for key, value in scope["headers"] if key == name), None)
    return None if found is None else found.decode("latin-1")
