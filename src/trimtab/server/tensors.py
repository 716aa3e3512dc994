"""Tensors on the wire: JSON lists and raw little-endian bytes (binary tensor data extension)."""

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trimtab.server.errors import RequestError

Array = NDArray[np.float32]

INPUT_TYPES: dict[str, np.dtype[Any]] = {
    "FP32": np.dtype("<f4"),
    "FP16": np.dtype("<f2"),
    "FP64": np.dtype("<f8"),
    "UINT8": np.dtype("u1"),
}
"""What inputs may be. Bytes are pixels: 0 to 255 mean 0 to 1."""


def shape_of(tensor: dict[str, Any]) -> tuple[int, ...]:
    """The stated shape: at least one dimension, sizes from 1 on."""
    shape = tensor.get("shape")
    sizes = isinstance(shape, list) and all(
        isinstance(size, int) and not isinstance(size, bool) and 0 < size < 2**31 for size in shape
    )
    if not sizes or not shape or len(shape) > 8:
        raise RequestError(
            400, f"an input's shape must be a list of sizes from 1 on, got {brief(shape)}"
        )
    return tuple(shape)


def type_of(tensor: dict[str, Any]) -> np.dtype[Any]:
    """How the stated datatype is stored."""
    name = tensor.get("datatype")
    found = INPUT_TYPES.get(name) if isinstance(name, str) else None
    if found is None:
        known = ", ".join(INPUT_TYPES)
        raise RequestError(400, f"an input's datatype must be one of {known}, got {brief(name)}")
    return found


def from_bytes(raw: memoryview, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Values as float32, from exactly as many bytes as the shape says."""
    expected = math.prod(shape) * dtype.itemsize
    if len(raw) != expected:
        raise RequestError(
            400, f"{expected} bytes were expected for {dtype.name} of shape {shape}, got {len(raw)}"
        )
    return _values(np.frombuffer(raw, dtype).reshape(shape))


def from_list(data: Any, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Array:
    """Values as float32, from a flat or nested list of exactly as many numbers."""
    if not isinstance(data, list):
        raise RequestError(400, f"an input's data must be a list of numbers, got {brief(data)}")
    try:
        found = np.asarray(data)
    except ValueError as error:
        raise RequestError(400, f"an input's data must be a regular list: {error}") from error
    if found.dtype.kind not in "iuf":
        raise RequestError(400, "an input's data must be numbers alone")
    if found.size != math.prod(shape):
        count = math.prod(shape)
        raise RequestError(
            400, f"{count} numbers were expected for shape {shape}, got {found.size}"
        )
    if found.ndim > 1 and found.shape != shape:  # such as channels last, which would be scrambled
        raise RequestError(
            400,
            f"an input's data must be flat or nested in the stated shape {list(shape)}, got "
            f"{list(found.shape)}",
        )
    if dtype.kind == "u" and (found.dtype.kind == "f" or found.min() < 0 or found.max() > 255):
        raise RequestError(400, "UINT8 data must be whole numbers from 0 to 255")
    with np.errstate(over="ignore"):
        return _values(found.astype(dtype).reshape(shape))


def _values(found: NDArray[Any]) -> Array:
    """Finite float32 of its own memory; bytes become [0, 1]."""
    with np.errstate(over="ignore"):
        values = np.array(found, np.float32)
    if found.dtype.kind == "u":
        values /= 255
    if not np.isfinite(values).all():
        raise RequestError(400, "inputs must be finite in float32, got NaN, inf or larger values")
    return values


def brief(value: object) -> str:
    """A value from outside, short enough for a sentence."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= 60 else f"{text[:57]}..."
