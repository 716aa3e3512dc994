"""HTTP (FastAPI): the Open Inference Protocol's endpoints, streams, metrics and the live page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.types import ASGIApp

from trimtab.server import openapi
from trimtab.server.access import check_model, owner_of
from trimtab.server.errors import RequestError
from trimtab.server.eyes import add_eyes
from trimtab.server.infer import InferFirst, infer
from trimtab.server.middleware import Envelope, install_errors
from trimtab.server.protocol import EXTENSIONS, OUTPUTS
from trimtab.server.reference import add_reference
from trimtab.server.service import Service
from trimtab.server.stream_routes import add_stream_routes
from trimtab.version import __version__

MODEL = "/v2/models/{model}"


def make_server_app(service: Service) -> ASGIApp:
    """What a server runs: the application behind the short way to inference."""
    return Envelope(InferFirst(make_app(service), service))


def make_app(service: Service) -> FastAPI:
    """The application of one served model, with its OpenAPI description."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="Trimtab",
        version=__version__,
        description="An adapting model behind the Open Inference Protocol v2.",
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own pages load scripts from elsewhere
        redoc_url=None,
    )
    app.state.service = service
    install_errors(app)
    _add_protocol(app, service)
    add_stream_routes(app, service)
    add_eyes(app, service)
    add_reference(app)
    return app


def _add_protocol(app: FastAPI, service: Service) -> None:
    """Health, metadata and inference."""
    settings = service.settings
    tensors = {
        "inputs": [_tensor("images", [-1, *settings.sample_shape])],
        "outputs": [_tensor(name, [-1, settings.num_classes]) for name in OUTPUTS],
    }

    @app.get("/v2/health/live", tags=["health"])
    async def live() -> dict[str, bool]:
        return {"live": True}

    @app.get("/v2/health/ready", tags=["health"], responses=openapi.errors(503))
    async def ready() -> dict[str, bool]:
        if not service.is_ready:
            raise RequestError(503, "the server is not ready")
        return {"ready": True}

    @app.get("/v2", tags=["metadata"], responses=openapi.errors(401))
    async def server_metadata(request: Request) -> dict[str, Any]:
        owner_of(service, request)
        return {"name": "trimtab", "version": __version__, "extensions": EXTENSIONS}

    async def model_metadata(model: str, request: Request) -> dict[str, Any]:
        check_model(service, model)
        owner_of(service, request)
        return {"name": model, "versions": ["1"], "platform": "trimtab_pytorch", **tensors}

    async def model_ready(model: str) -> dict[str, Any]:
        check_model(service, model)
        return {"name": model, "ready": (await ready())["ready"]}

    async def infer_described(model: str, request: Request) -> Response:
        return await infer(service, model, request)

    for path in (MODEL, MODEL + "/versions/1"):
        primary = path == MODEL  # the same again, as clients spell it that name a version
        app.get(
            path, tags=["metadata"], responses=openapi.errors(401, 404), include_in_schema=primary
        )(model_metadata)
        app.get(
            path + "/ready",
            tags=["health"],
            responses=openapi.errors(404, 503),
            include_in_schema=primary,
        )(model_ready)
        app.post(
            path + "/infer",
            tags=["inference"],
            summary="Predict, and learn on the way",
            responses=openapi.infer_responses(),
            openapi_extra=openapi.infer_request(settings),
            response_class=Response,
            include_in_schema=primary,
        )(infer_described)


def _tensor(name: str, shape: list[int]) -> dict[str, Any]:
    return {"name": name, "datatype": "FP32", "shape": shape}
