"""What people watch the server with: Prometheus metrics, live numbers and the live page."""

import time
from importlib import resources
from typing import Any

from fastapi import FastAPI, Request, Response

from trimtab.server import openapi
from trimtab.server.access import owner_of
from trimtab.server.errors import RequestError
from trimtab.server.service import Service

PAGE = {
    "index.html": "text/html",
    "style.css": "text/css",
    "script.js": "text/javascript",
}
"""Files of the live page and what they are."""

SAFE = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


def add_eyes(app: FastAPI, service: Service) -> None:
    """Add the endpoints to the application."""
    folder = resources.files("trimtab.server") / "page"
    page = {name: (folder / name).read_bytes() for name in PAGE}

    @app.get("/", include_in_schema=False)
    @app.get("/page/{name}", include_in_schema=False)
    async def live_page(name: str = "index.html") -> Response:
        if name not in page:
            raise RequestError(404, "there is no such file of the page")
        return Response(page[name], media_type=PAGE[name], headers=SAFE)

    @app.get("/metrics", tags=["eyes"], responses=openapi.errors(401), response_class=Response)
    async def metrics(request: Request) -> Response:
        owner_of(service, request)
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")

    @app.get("/live", tags=["eyes"], responses=openapi.errors(401))
    async def live_numbers(request: Request) -> dict[str, Any]:
        owner = owner_of(service, request)
        return {
            "model": service.settings.model,
            "method": service.settings.method,
            "began": service.began,
            "now": time.time(),
            "resident": len(service.streams.records),
            "known": len(service.streams.known),
            "queued_samples": service.rounds.queued_samples,
            "seconds": service.live.seconds(),
            "health": service.live.health(),
            "events": [event for event in service.live.events() if owner.owns(event["stream"])],
        }
