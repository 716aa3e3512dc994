"""Messages of one size that ranks send each other: whether all is well, and something small."""

import torch
from torch import Tensor

CONTENT_BYTES = 4096
"""Statistics of 512 channels fit, and a sentence of error."""

_HEADER_BYTES = 8  # keeps numbers aligned
_FAILED, _LENGTH = 0, slice(4, 8)


def fits(tensor: Tensor) -> bool:
    """Whether a tensor can be the content of a message."""
    return tensor.numel() * tensor.element_size() <= CONTENT_BYTES


def message(said: Tensor | bytes, device: torch.device, failed: bool) -> Tensor:
    """A message, as bytes."""
    if isinstance(said, bytes):
        raw = torch.frombuffer(bytearray(said), dtype=torch.uint8) if said else torch.empty(0)
    else:
        raw = said.detach().contiguous().flatten().view(torch.uint8)
    made = torch.zeros(_HEADER_BYTES + CONTENT_BYTES, dtype=torch.uint8, device=device)
    made[_FAILED] = failed
    made[_LENGTH].view(torch.int32)[0] = len(raw)
    made[_HEADER_BYTES : _HEADER_BYTES + len(raw)] = raw
    return made


def is_failure(messages: Tensor) -> bool:
    """Whether any of some messages, a row each, is that of a rank that has failed."""
    return bool(messages[:, _FAILED].any())


def words(received: Tensor) -> bytes:
    """The content of a message of words."""
    length = int(received[_LENGTH].view(torch.int32))
    return bytes(received[_HEADER_BYTES : _HEADER_BYTES + length].tolist())


def content(received: Tensor, like: Tensor) -> Tensor:
    """The content of a message, of the shape and type of ``like``."""
    length = like.numel() * like.element_size()
    return received[_HEADER_BYTES : _HEADER_BYTES + length].view(like.dtype).view(like.shape)
