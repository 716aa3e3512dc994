"""Who asks, and for which model."""

from fastapi import Request

from trimtab.server.errors import RequestError
from trimtab.server.service import Service
from trimtab.server.tokens import Owner


def check_model(service: Service, model: str) -> None:
    """404 for any other model than the one that is served."""
    if model != service.settings.model:
        raise RequestError(404, f"the model that is served is {service.settings.model}")


def owner_of(service: Service, request: Request) -> Owner:
    """Who asks; 401 where that is nobody known."""
    return service.settings.tokens.owner(request.headers.get("authorization"))
