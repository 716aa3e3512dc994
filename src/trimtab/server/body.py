"""A request's body, within bounds of size and time."""

import asyncio
import json
import sys
from collections.abc import Coroutine
from typing import Any

from fastapi import Request
from starlette.requests import ClientDisconnect

from trimtab.server.errors import RequestError
from trimtab.server.limits import Limits

SMALL_BYTES = 64 * 1024
"""Most bytes of a body that holds a few words."""


async def read_body(request: Request, limits: Limits, most_bytes: int | None = None) -> bytes:
    """All of it: 413 if it is too large, 408 if it takes too long, 400 if it ends early."""
    most = most_bytes or limits.body_bytes
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise _too_large(most)
    try:
        return await in_time(_gathered(request, most), limits.body_seconds)
    except asyncio.TimeoutError as error:
        raise RequestError(
            408, f"the body did not arrive within {limits.body_seconds:g} seconds"
        ) from error
    except ClientDisconnect as error:
        raise RequestError(400, "the connection was cut before the body's end") from error


if sys.version_info >= (3, 11):

    async def in_time(body: Coroutine[Any, Any, bytes], seconds: float) -> bytes:
        """``asyncio.wait_for`` without a task for each request."""
        async with asyncio.timeout(seconds):
            return await body
else:
    in_time = asyncio.wait_for


async def _gathered(request: Request, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
    return b"".join(parts)


def _too_large(most: int) -> RequestError:
    return RequestError(
        413, f"a body may have {most} bytes; send fewer samples", {"Connection": "close"}
    )


async def read_words(request: Request, limits: Limits) -> dict[str, Any]:
    """A small JSON object; an empty body is an empty one."""
    body = await read_body(request, limits, SMALL_BYTES)
    try:
        words = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "the body must be a JSON object, or empty") from error
    if not isinstance(words, dict):
        raise RequestError(400, "the body must be a JSON object, or empty")
    return words
