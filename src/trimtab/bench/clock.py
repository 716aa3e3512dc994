"""Seconds that a pass takes by the wall clock, accelerators waited for."""

import time
from collections.abc import Callable
from typing import TypeVar

import torch
from torch import Tensor

Network = TypeVar("Network")


def timed(
    work: Callable[[Network, Tensor], Tensor], network: Network, inputs: Tensor
) -> tuple[Tensor, float]:
    """What ``work`` makes of the inputs with this network, and how many seconds it took."""
    clock = time.perf_counter()
    result = work(network, inputs)
    if result.is_cuda:
        torch.cuda.synchronize()
    return result, time.perf_counter() - clock
