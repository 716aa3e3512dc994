"""The wire format as pure functions: what is right is read exactly, the rest is refused."""

import json
import random
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from trimtab.server.errors import RequestError
from trimtab.server.protocol import HEADER_LENGTH, InferRequest, answer, parse, probabilities

IMAGES = np.random.default_rng(0).random((2, 3, 4, 4), np.float32)


def message(**changes: Any) -> dict[str, Any]:
    tensor = {"name": "images", "shape": list(IMAGES.shape), "datatype": "FP32"}
    tensor |= {"data": IMAGES.ravel().tolist()} | changes.pop("tensor", {})
    return {"id": "r1", "inputs": [tensor]} | changes


def read(value: Any) -> InferRequest:
    return parse(json.dumps(value).encode(), None)


def binary(dtype: str = "FP32", values: np.ndarray = IMAGES, **changes: Any) -> tuple[bytes, str]:
    raw = values.tobytes()
    tensor: dict[str, Any] = {"shape": list(values.shape), "datatype": dtype}
    tensor |= {"parameters": {"binary_data_size": len(raw)}}
    head = json.dumps({"inputs": [tensor]} | changes).encode()
    return head + raw, str(len(head))


def test_lists_and_bytes_say_the_same() -> None:
    assert np.array_equal(read(message()).inputs, IMAGES)
    assert np.array_equal(read(message(tensor={"data": IMAGES.tolist()})).inputs, IMAGES)
    assert np.array_equal(parse(*binary()).inputs, IMAGES)


@pytest.mark.parametrize(("name", "dtype"), [("FP16", np.float16), ("FP64", np.float64)])
def test_other_floats_become_float32(name: str, dtype: type) -> None:
    found = parse(*binary(name, IMAGES.astype(dtype))).inputs
    assert found.dtype == np.float32
    assert np.array_equal(found, IMAGES.astype(dtype).astype(np.float32))


def test_bytes_are_pixels() -> None:
    pixels = np.array([[0, 51, 255]], np.uint8)
    assert np.allclose(parse(*binary("UINT8", pixels)).inputs, [[0, 0.2, 1]])


def test_a_sequence_is_a_stream() -> None:
    request = read(
        message(parameters={"sequence_id": "cam-1", "sequence_start": True, "number": 4})
    )
    assert (request.stream, request.start, request.end, request.number) == ("cam-1", True, False, 4)
    assert read(message(parameters={"sequence_id": 17})).stream == "17"
    assert read(message(parameters={"sequence_id": 0})).stream is None
    assert read(message(parameters={"sequence_id": ""})).stream is None


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no inputs": ({"inputs": None}, "list of one tensor"),
    "two inputs": ({"inputs": [{}, {}]}, "list of one tensor"),
    "an input that is none": ({"inputs": [3]}, "must be a JSON object"),
    "a size of zero": ({"tensor": {"shape": [0, 3]}}, "sizes from 1 on"),
    "a size that is true": ({"tensor": {"shape": [True]}}, "sizes from 1 on"),
    "a size beyond all memory": ({"tensor": {"shape": [2**40]}}, "sizes from 1 on"),
    "too few numbers": ({"tensor": {"shape": [2, 3, 4, 5]}}, "numbers were expected"),
    "an unknown type": ({"tensor": {"datatype": "BYTES"}}, "datatype must be"),
    "a type that is a list": ({"tensor": {"datatype": []}}, "datatype must be"),
    "channels last in a shape of channels first": (
        {"tensor": {"data": IMAGES.transpose(0, 2, 3, 1).tolist()}},
        r"stated shape \[2, 3, 4, 4\], got \[2, 4, 4, 3\]",
    ),
    "words": ({"tensor": {"data": ["a"] * 96}}, "numbers alone"),
    "booleans": ({"tensor": {"data": [True] * 96}}, "numbers alone"),
    "a ragged list": ({"tensor": {"data": [[1], [1, 2]]}}, "regular list"),
    "huge whole numbers": ({"tensor": {"data": [10**30] * 96}}, "numbers alone"),
    "not a number": ({"tensor": {"data": [float("nan")] * 96}}, "finite"),
    "beyond float32": ({"tensor": {"data": [1e300] * 96}}, "finite"),
    "pixels below 0": (
        {"tensor": {"datatype": "UINT8", "data": [-1] * 96}},
        "whole numbers from 0 to 255",
    ),
    "a size without bytes": ({"tensor": {"parameters": {"binary_data_size": 4}}}, "has no data"),
    "a stream's id that climbs": ({"parameters": {"sequence_id": "../x"}}, "a stream's id"),
    "a stream's id that is a list": ({"parameters": {"sequence_id": [1]}}, "a stream's id"),
    "a stream's id that is true": ({"parameters": {"sequence_id": True}}, "a stream's id"),
    "a very long id": ({"parameters": {"sequence_id": "a" * 65}}, "a stream's id"),
    "a negative number": ({"parameters": {"number": -1}}, "whole number from 0"),
    "a number beyond 63 bits": ({"parameters": {"number": 2**63}}, "whole number from 0"),
    "a start in words": ({"parameters": {"sequence_start": "yes"}}, "true or false"),
    "parameters in a list": ({"parameters": []}, "must be a JSON object"),
    "an unknown output": ({"outputs": [{"name": "boxes"}]}, "outputs are"),
    "no outputs at all": ({"outputs": []}, "list of one or two"),
    "an id that is a number": ({"id": 3}, "id must be a string"),
}


def test_parameters_of_other_clients_are_ignored_and_misspelt_ones_refused() -> None:
    assert read(message(parameters={"priority": 1, "timeout": 5, "learn": False})).learn is False
    with pytest.raises(RequestError, match=r'parameters of a request are .*learn.*; got "lern"'):
        read(message(parameters={"lern": False}))


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_wrong_is_refused_in_one_sentence(what: str) -> None:
    changes, expected = REFUSED[what]
    with pytest.raises(RequestError, match=expected) as caught:
        read(message(**changes))
    assert caught.value.status == 400
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("body", "length"),
    [
        (b"", None),
        (b"\xff\xfe", None),
        (b"[" * 100_000, None),
        (b'{"a":' * 50_000, None),
        (b"{}", "3"),
        (b"{}", "-1"),
        (b"{}", "1e1"),
        (b"{}", "\u0661"),
        (b"{}rest", "2"),
    ],
)
def test_bodies_that_are_no_requests_are_refused(body: bytes, length: str | None) -> None:
    with pytest.raises(RequestError):
        parse(body, length)


def test_missing_and_surplus_bytes_are_refused() -> None:
    body, length = binary()
    for changed in (body[:-1], body + b"x"):
        with pytest.raises(RequestError, match="bytes"):
            parse(changed, length)


def test_ten_thousand_damaged_bodies_raise_nothing_else() -> None:
    draw = random.Random(0)
    sources: list[tuple[bytes, str | None]] = [
        (json.dumps(message(parameters={"sequence_id": "c", "number": 1})).encode(), None)
    ]
    sources.append(binary(parameters={"sequence_id": "c"}, outputs=[{"name": "logits"}]))
    accepted = 0
    for _ in range(10_000):
        body, length = draw.choice(sources)
        changed = bytearray(body[: draw.choice((len(body), 60, 200, 400))])
        for _ in range(draw.randint(1, 8)):
            changed[draw.randrange(min(len(changed), 260))] = draw.choice(b'{}[]",:0-9e.\xff\x00tn')
        with suppress(RequestError):
            parse(bytes(changed), draw.choice((length, length, None, "7")))
            accepted += 1
    assert accepted < 1_000


def test_an_answer_in_lists_and_one_in_bytes_hold_the_logits() -> None:
    logits = np.array([[1.5, -2.0]], np.float32)
    plain, headers = answer("net", read(message()), logits, {"learned": True, "durable": None})
    told = json.loads(plain)
    assert headers == {"content-type": "application/json"}
    assert told["parameters"] == {"learned": True}
    assert told["outputs"][0]["data"] == [1.5, -2.0]
    asked = message(outputs=[{"name": "logits", "parameters": {"binary_data": True}}])
    body, headers = answer("net", read(asked), logits, {})
    length = int(headers[HEADER_LENGTH])
    assert json.loads(body[:length])["outputs"][0]["parameters"] == {"binary_data_size": 8}
    assert body[length:] == logits.tobytes()


def test_probabilities_add_up_and_bear_large_logits() -> None:
    found = probabilities(np.array([[1000.0, 999.0], [0.0, 0.0]], np.float32))
    assert np.allclose(found.sum(1), 1)
    assert np.allclose(found[1], 0.5)
