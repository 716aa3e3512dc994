"""The inference endpoint, short of the framework: most requests are for it, and each is small."""

import re
import time

import numpy as np
from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from trimtab.server.access import check_model, owner_of
from trimtab.server.body import read_body
from trimtab.server.errors import RequestError
from trimtab.server.protocol import HEADER_LENGTH, answer, parse
from trimtab.server.service import Service

PATH = re.compile(r"/v2/models/([^/]+)(?:/versions/1)?/infer")


class InferFirst:
    """Answers inference requests itself and hands all others to ``app``."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        found = PATH.fullmatch(scope["path"]) if is_post else None
        if found is None:
            await self.app(scope, receive, send)
            return
        response: Response
        try:
            response = await infer(self.service, found[1], Request(scope, receive))
        except RequestError as error:
            response = JSONResponse({"error": str(error)}, error.status, error.headers)
        await response(scope, receive, send)


async def infer(service: Service, model: str, request: Request) -> Response:
    """Read, check, compute, answer; and count whatever comes of it."""
    began, samples, status, repeated = time.monotonic(), 0, 500, False
    try:
        check_model(service, model)
        owner = owner_of(service, request)
        body = await read_body(request, service.settings.limits)
        asked = parse(body, request.headers.get(HEADER_LENGTH))
        stream = service.stream_of(asked)
        owner.check(stream)
        request.state.stream = stream
        samples = len(asked.inputs)
        outcome = await service.infer(asked)
        repeated = outcome.parameters.get("repeated") is True
        logits = outcome.value.numpy().astype(np.float32, copy=False)
        content, headers = answer(model, asked, logits, outcome.parameters)
        status = 200
        return Response(content, headers=headers)
    except RequestError as error:
        status = error.status
        raise
    finally:
        seconds = time.monotonic() - began
        service.metrics.answered(status, seconds, repeated)
        service.live.answered(samples, seconds, status >= 400)
