"""Clients that nobody here wrote: Triton's, with binary data and sequences."""

import numpy as np
import pytest
import torch
import tritonclient.http as triton
from torch import Tensor, nn
from tritonclient.utils import InferenceServerException

import trimtab
from server.running import MODEL


@pytest.fixture
def foreign(url: str) -> triton.InferenceServerClient:
    return triton.InferenceServerClient(url.removeprefix("http://"))


def tensor(images: Tensor, *, binary: bool = True) -> triton.InferInput:
    found = triton.InferInput("images", list(images.shape), "FP32")
    found.set_data_from_numpy(images.numpy(), binary_data=binary)
    return found


def test_health_and_metadata(foreign: triton.InferenceServerClient) -> None:
    assert foreign.is_server_live()
    assert foreign.is_server_ready()
    assert foreign.is_model_ready(MODEL)
    assert not foreign.is_model_ready("another")
    assert "sequence(string_id)" in foreign.get_server_metadata()["extensions"]
    assert foreign.get_model_metadata(MODEL)["inputs"][0]["shape"] == [-1, 3, 16, 16]
    assert foreign.get_model_metadata(MODEL, "1")["name"] == MODEL


@pytest.mark.parametrize("binary", [True, False])
def test_a_sequence_adapts_as_a_stream_in_this_process_does(
    foreign: triton.InferenceServerClient, net: nn.Module, images: Tensor, binary: bool
) -> None:
    alone = trimtab.fleet(net, "tent")["cam-1"]
    asked = [triton.InferRequestedOutput("logits", binary_data=binary)]
    for first in range(0, 24, 8):
        batch = images[first : first + 8]
        found = foreign.infer(
            MODEL,
            [tensor(batch, binary=binary)],
            outputs=asked,
            sequence_id="cam-1",
            sequence_start=first == 0,
            sequence_end=first == 16,
        )
        assert np.allclose(found.as_numpy("logits"), alone(batch).numpy(), atol=1e-5)


def test_without_a_sequence_the_source_model_answers(
    foreign: triton.InferenceServerClient, net: nn.Module, images: Tensor
) -> None:
    asked = [triton.InferRequestedOutput(name) for name in ("logits", "probabilities")]
    found = foreign.infer(MODEL, [tensor(images[:4])], outputs=asked, request_id="r-7")
    with torch.no_grad():
        expected = net.eval()(images[:4])
    assert np.allclose(found.as_numpy("logits"), expected.numpy(), atol=1e-5)
    assert np.allclose(found.as_numpy("probabilities"), expected.softmax(1).numpy(), atol=1e-5)
    assert found.get_response()["id"] == "r-7"


def test_errors_are_sentences_that_the_client_shows(
    foreign: triton.InferenceServerClient, images: Tensor
) -> None:
    with pytest.raises(InferenceServerException, match=r"inputs must have shape \(batch, 3, 16"):
        foreign.infer(MODEL, [tensor(images[:2, :, :8])], sequence_id=5)
    with pytest.raises(InferenceServerException, match="the model that is served is net"):
        foreign.infer("another", [tensor(images[:2])])
