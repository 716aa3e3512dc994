"""Open Inference Protocol v2, with binary tensor data and sequences, as pure functions.

A body becomes an ``InferRequest`` or a ``RequestError``; logits become a body.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from trimtab.server.errors import RequestError
from trimtab.server.tensors import Array, brief, from_bytes, from_list, shape_of, type_of

EXTENSIONS = ["binary_tensor_data", "sequence", "sequence(string_id)", "trimtab_streams"]
"""What server metadata lists."""

HEADER_LENGTH = "inference-header-content-length"
"""Header that says how many bytes of a body are JSON; tensors follow."""

STREAM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@~+=-]{0,63}")
"""What a stream may be called."""

PARAMETERS = (
    "sequence_id",
    "sequence_start",
    "sequence_end",
    "number",
    "after",
    "learn",
    "binary_data_output",
)
"""Parameters of a request."""

IGNORED = ("priority", "timeout")
"""Parameters that clients of the protocol send, and that ask for nothing that happens here."""

OUTPUTS = ("logits", "probabilities")
MOST_NUMBER = 2**63 - 1


@dataclass(frozen=True)
class Output:
    """One output that was asked for, as raw bytes or as a list."""

    name: str
    binary: bool


@dataclass(frozen=True)
class InferRequest:
    """What a client wants.

    Args:
        inputs: Images or other samples, (batch, ...) float32, finite.
        stream: Id of the stream; None for predictions without one.
        start: Begin the stream anew before this request.
        end: The stream's state may leave the memory after this request.
        number: Place of this request in the stream, rising; None where the client counts nothing.
        after: Number that the stream must have learned through before this request.
        learn: Whether the stream may learn from the request.
    """

    id: str | None
    inputs: Array
    stream: str | None
    start: bool
    end: bool
    number: int | None
    after: int | None
    learn: bool
    outputs: tuple[Output, ...]


def parse(body: bytes, header_length: str | None) -> InferRequest:
    """The request in a body; ``RequestError`` with status 400 says what is wrong with it."""
    head, raw = _split(body, header_length)
    message = _object(_json(head), "a request")
    name = message.get("id")
    if name is not None and not (isinstance(name, str) and len(name) <= 200):
        raise RequestError(400, f"id must be a string of at most 200 letters, got {brief(name)}")
    parameters = _object(message.get("parameters", {}), "parameters")
    unknown = sorted(parameters.keys() - {*PARAMETERS, *IGNORED})
    if unknown:  # such as a misspelt ``learn``
        raise RequestError(
            400, f"parameters of a request are {', '.join(PARAMETERS)}; got {brief(unknown[0])}"
        )
    return InferRequest(
        id=name,
        inputs=_inputs(message, raw),
        stream=_stream(parameters.get("sequence_id")),
        start=_flag(parameters, "sequence_start", False),
        end=_flag(parameters, "sequence_end", False),
        number=_number(parameters, "number"),
        after=_number(parameters, "after"),
        learn=_flag(parameters, "learn", True),
        outputs=_outputs(message, parameters),
    )


def stream_in(body: bytes, header_length: str | None) -> str | None:
    """The stream that a body is for, as far as it can be read; whatever is wrong is seen later."""
    try:
        head, _ = _split(body, header_length)
        parameters = _object(_object(_json(head), "a request").get("parameters", {}), "parameters")
        return _stream(parameters.get("sequence_id"))
    except RequestError:
        return None


def _split(body: bytes, header_length: str | None) -> tuple[memoryview, memoryview]:
    """The JSON, and the raw tensors behind it."""
    view = memoryview(body)
    if header_length is None:
        return view, view[len(view) :]
    if not re.fullmatch(r"[0-9]{1,12}", header_length) or int(header_length) > len(view):
        raise RequestError(
            400,
            f"Inference-Header-Content-Length must be a number of bytes up to {len(view)}, "
            f"the body's length, got {brief(header_length)}",
        )
    return view[: int(header_length)], view[int(header_length) :]


def _json(head: memoryview) -> Any:
    try:
        return json.loads(bytes(head))
    except (ValueError, RecursionError) as error:  # bad UTF-8 is a ValueError too
        said = str(error) if not isinstance(error, RecursionError) else "nested too deeply"
        raise RequestError(400, f"a body must be JSON: {said[:120]}") from error


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RequestError(400, f"{what} must be a JSON object, got {brief(value)}")
    return value


def _flag(parameters: dict[str, Any], name: str, default: bool) -> bool:
    value = parameters.get(name, default)
    if not isinstance(value, bool):
        raise RequestError(400, f"{name} must be true or false, got {brief(value)}")
    return value


def _stream(value: Any) -> str | None:
    """A sequence's id; 0 and the empty string mean none, as for Triton."""
    if value is None or (value in ("", 0) and not isinstance(value, bool)):
        return None
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**64
    return stream_id(str(value) if whole else value)


def stream_id(value: Any) -> str:
    """``value``, if a stream may be called that."""
    if not isinstance(value, str) or not STREAM_ID.fullmatch(value):
        raise RequestError(
            400,
            "a stream's id must be 1 to 64 letters, digits or ._:@~+=-, the first a letter or a "
            f"digit, got {brief(value)}",
        )
    return value


def _number(parameters: dict[str, Any], name: str) -> int | None:
    value = parameters.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_NUMBER:
        raise RequestError(400, f"{name} must be a whole number from 0 on, got {brief(value)}")
    return value


def _inputs(message: dict[str, Any], raw: memoryview) -> Array:
    inputs = message.get("inputs")
    if not isinstance(inputs, list) or len(inputs) != 1:
        raise RequestError(400, f"inputs must be a list of one tensor, got {brief(inputs)}")
    tensor = _object(inputs[0], "an input")
    shape, dtype = shape_of(tensor), type_of(tensor)
    size = _object(tensor.get("parameters", {}), "parameters").get("binary_data_size")
    if size is None:
        if len(raw):
            raise RequestError(400, f"{len(raw)} bytes follow the JSON that no input names")
        return from_list(tensor.get("data"), dtype, shape)
    if "data" in tensor or size != len(raw) or isinstance(size, bool):
        raise RequestError(
            400,
            f"an input with binary_data_size has no data and all bytes behind the JSON, "
            f"{len(raw)}, got {brief(size)}",
        )
    return from_bytes(raw, dtype, shape)


def _outputs(message: dict[str, Any], parameters: dict[str, Any]) -> tuple[Output, ...]:
    all_binary = _flag(parameters, "binary_data_output", False)
    asked = message.get("outputs")
    if asked is None:
        return (Output(OUTPUTS[0], all_binary),)
    if not isinstance(asked, list) or not 0 < len(asked) <= len(OUTPUTS):
        raise RequestError(400, f"outputs must be a list of one or two tensors, got {brief(asked)}")
    return tuple(_output(_object(output, "an output"), all_binary) for output in asked)


def _output(output: dict[str, Any], all_binary: bool) -> Output:
    name = output.get("name")
    if name not in OUTPUTS:
        raise RequestError(400, f"outputs are {' and '.join(OUTPUTS)}, got {brief(name)}")
    parameters = _object(output.get("parameters", {}), "parameters")
    return Output(name, _flag(parameters, "binary_data", all_binary))


def answer(
    model: str, request: InferRequest, logits: Array, parameters: dict[str, Any]
) -> tuple[bytes, dict[str, str]]:
    """Body and headers of the answer.

    Args:
        logits: (batch, classes) float32.
        parameters: What happened to the stream; values that are None are left out.
    """
    tensors = [_written(output, logits) for output in request.outputs]
    message: dict[str, Any] = {"model_name": model, "model_version": "1"}
    if request.id is not None:
        message["id"] = request.id
    known = {name: value for name, value in parameters.items() if value is not None}
    if known:
        message["parameters"] = known
    message["outputs"] = [described for described, _ in tensors]
    head = json.dumps(message, separators=(",", ":")).encode()
    raw = b"".join(content for _, content in tensors)
    if not any(output.binary for output in request.outputs):
        return head, {"content-type": "application/json"}
    length = {HEADER_LENGTH: str(len(head))}
    return head + raw, {"content-type": "application/octet-stream"} | length


def _written(output: Output, logits: Array) -> tuple[dict[str, Any], bytes]:
    values = logits if output.name == "logits" else probabilities(logits)
    described: dict[str, Any] = {
        "name": output.name,
        "datatype": "FP32",
        "shape": list(values.shape),
    }
    if not output.binary:
        return described | {"data": values.ravel().tolist()}, b""
    raw = np.ascontiguousarray(values, np.dtype("<f4")).tobytes()
    return described | {"parameters": {"binary_data_size": len(raw)}}, raw


def probabilities(logits: Array) -> Array:
    """Softmax along classes."""
    shifted: Array = np.exp(logits - logits.max(1, keepdims=True))
    total: Array = shifted.sum(1, keepdims=True)
    return shifted / total
