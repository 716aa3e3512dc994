"""What the OpenAPI description says of requests and errors that are read by hand."""

import math
from typing import Any

from trimtab.server.protocol import HEADER_LENGTH, IGNORED, OUTPUTS, STREAM_ID
from trimtab.server.settings import Settings
from trimtab.server.tensors import INPUT_TYPES

Described = dict[str, Any]

_MEANINGS = {
    400: "Malformed request",
    401: "No known token",
    403: "Somebody else's stream",
    404: "No such model or stream",
    408: "The body came too slowly",
    409: "The stored state cannot be used",
    413: "Too large",
    429: "Too much; Retry-After says when to try again",
    503: "Not ready",
}


def errors(*statuses: int) -> dict[int | str, Described]:
    """Error answers by their status."""
    schema = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    content = {"application/json": {"schema": schema}}
    return {status: {"description": _MEANINGS[status], "content": content} for status in statuses}


def infer_responses() -> dict[int | str, Described]:
    """Answers to an inference request."""
    tensor = {"type": "object", "required": ["name", "datatype", "shape"]}
    schema = {
        "type": "object",
        "required": ["model_name", "outputs"],
        "properties": {"outputs": {"type": "array", "items": tensor}},
    }
    binary = {"schema": {"type": "string", "format": "binary"}}
    good = {
        "description": f"Outputs; with binary ones, JSON of {HEADER_LENGTH} bytes and tensors",
        "content": {"application/json": {"schema": schema}, "application/octet-stream": binary},
    }
    return {200: good} | errors(400, 401, 403, 404, 408, 409, 413, 429, 503)


def infer_request(settings: Settings) -> Described:
    """The body of an inference request."""
    sizes = settings.sample_shape
    tensor = {
        "type": "object",
        "required": ["name", "shape", "datatype", "data"],
        "properties": {
            "name": {"type": "string"},
            "shape": {
                "type": "array",
                "items": {"type": "integer", "minimum": 1},
                "example": [1, *sizes],
            },
            "datatype": {"enum": list(INPUT_TYPES)},
            "data": {
                "type": "array",
                "items": {"type": "number"},
                "description": f"{math.prod(sizes)} numbers a sample, flat or nested",
            },
        },
    }
    schema = {
        "type": "object",
        "required": ["inputs"],
        "properties": {
            "id": {"type": "string", "maxLength": 200},
            "parameters": {
                "type": "object",
                "properties": _parameters(),
                "additionalProperties": False,
            },
            "inputs": {"type": "array", "items": tensor, "minItems": 1, "maxItems": 1},
            "outputs": {"type": "array", "items": _output(), "minItems": 1, "maxItems": 2},
        },
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def _parameters() -> Described:
    return {
        "sequence_id": {"type": "string", "pattern": f"^{STREAM_ID.pattern}$"},
        "sequence_start": {"type": "boolean", "description": "begin the stream anew"},
        "sequence_end": {"type": "boolean", "description": "the state may leave the memory"},
        "number": {"type": "integer", "minimum": 0, "description": "rises along the stream"},
        "after": {"type": "integer", "minimum": 0, "description": "learned through before"},
        "learn": {"type": "boolean", "default": True},
        "binary_data_output": {"type": "boolean", "default": False},
    } | {name: {"description": "ignored"} for name in IGNORED}


def _output() -> Described:
    binary = {"type": "object", "properties": {"binary_data": {"type": "boolean"}}}
    properties = {"name": {"enum": list(OUTPUTS)}, "parameters": binary}
    return {"type": "object", "required": ["name"], "properties": properties}


def words(**properties: Described) -> Described:
    """A small JSON body that may be left out."""
    schema = {"type": "object", "properties": properties}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}
