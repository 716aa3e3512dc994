"""What goes wrong on one rank, and what the others see of it."""

import copy
import datetime
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

import trimtab
from distributed import streams
from same import assert_same

SILENCE_SECONDS = 2.0


def failed(adapter: trimtab.Adapter, call: Callable[[], object]) -> str:
    """The error of a call that must fail and leave the state as it was, bit for bit."""
    before = copy.deepcopy(adapter.state_dict())
    try:
        call()
    except Exception as error:
        assert_same(adapter.state_dict(), before)
        assert all(p.grad is None for p in adapter.params.values())
        return f"{type(error).__name__}: {error}"
    return "nothing was raised"


@contextmanager
def in_pass(adapter: trimtab.Adapter, number: int, what: Callable[[], None]) -> Iterator[None]:
    """Let something happen in the middle of the network, in its ``number``-th pass."""
    seen: list[int] = []
    layers = [m for m in adapter.backbone.model.modules() if isinstance(m, nn.BatchNorm2d)]

    def happen(*_: object) -> None:
        seen.append(1)
        if len(seen) == number:
            what()

    handle = layers[1].register_forward_hook(happen)
    try:
        yield
    finally:
        handle.remove()


def breaks() -> None:
    raise MemoryError("no memory left")


def break_backward(_: Tensor) -> None:
    raise MemoryError("no memory left to go back")


def one_rank_fails(group: dist.ProcessGroup) -> dict[str, Any]:
    """Errors of this rank by what rank 1 did, and the logits of good calls between."""
    rank, images = dist.get_rank(group), streams.samples()
    adapter = streams.start(streams.Case("roid", "bn", {}), torch.float32, process_group=group)
    good = images[:16].split(8)[rank]
    bad = {
        "a batch with NaN": lambda x: torch.full_like(x, torch.nan),
        "samples of another shape": lambda x: x[:, :, 1:],
        "another type": lambda x: x.double(),
        "no tensor": lambda _: "an image",
    }
    errors, logits = {}, [adapter(good)]
    for name, spoil in bad.items():
        errors[name] = failed(adapter, lambda s=spoil: adapter(s(good) if rank else good))  # type: ignore[misc]
    errors["nothing at all"] = failed(adapter, lambda: adapter(good[:0]))
    verb = adapter.predict if rank else adapter
    errors["another call"] = failed(adapter, lambda: verb(good))
    for number in (1, 2):
        with in_pass(adapter, number, breaks if rank else lambda: None):
            errors[f"no memory in pass {number}"] = failed(adapter, lambda: adapter(good))
    logits.append(adapter(images[16:32].split(8)[rank]))
    errors["an update of its own"] = _with_other_parameters(adapter, rank, good)
    errors["no memory on the way back"] = _on_the_way_back(adapter, rank, good)
    adapter.reset()
    logits.append(adapter(good))
    return {"errors": errors, "logits": logits}


def _with_other_parameters(adapter: trimtab.Adapter, rank: int, batch: Tensor) -> str:
    name, value = next(iter(adapter.params.items()))
    if rank:
        adapter.state.params[name] = (value + 1).detach().requires_grad_()
    error = failed(adapter, lambda: adapter(batch))
    adapter.state.params[name] = value
    return error


def _on_the_way_back(adapter: trimtab.Adapter, rank: int, batch: Tensor) -> str:
    def watch(_: object, __: object, output: Tensor) -> None:
        if output.requires_grad:
            output.register_hook(break_backward)

    layer = next(m for m in adapter.backbone.model.modules() if isinstance(m, nn.BatchNorm2d))
    handle = layer.register_forward_hook(watch) if rank else None
    error = failed(adapter, lambda: adapter(batch))
    if handle is not None:
        handle.remove()
    return error


def one_rank_is_lost(group: dist.ProcessGroup, folder: str) -> dict[str, Any]:
    """First rank 1 is silent in a group of its own timeout, then it is killed in a pass."""
    rank, images = dist.get_rank(group), streams.samples()
    good = images[:16].split(8)[rank]
    impatient = dist.new_group(timeout=datetime.timedelta(seconds=SILENCE_SECONDS))
    waiting = streams.start(streams.Case("tent", "bn", {}), torch.float32, process_group=impatient)
    adapter = streams.start(streams.Case("roid", "bn", {}), torch.float32, process_group=group)
    adapter(good)
    found = {}
    if rank == 0:
        begun = time.monotonic()
        found["silent"] = failed(waiting, lambda: waiting(good))
        found["waited"] = time.monotonic() - begun  # type: ignore[assignment]
    with in_pass(adapter, 2, _die if rank else lambda: None):
        begun = time.monotonic()
        found["killed"] = failed(adapter, lambda: adapter(good))
        found["noticed after"] = time.monotonic() - begun  # type: ignore[assignment]
    found["again"] = failed(adapter, lambda: adapter(good))
    adapter.save(Path(folder) / "state.safetensors")
    return found


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
