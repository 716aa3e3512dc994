"""Bit-equality of anything that a state is made of."""

from typing import Any

import torch
from torch import Tensor


def assert_same(left: Any, right: Any) -> None:
    """Bit-equal, all the way down."""
    if isinstance(left, dict):
        assert left.keys() == right.keys()
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, Tensor):
        assert left.dtype == right.dtype
        assert torch.equal(left, right)
    else:
        assert left == right
