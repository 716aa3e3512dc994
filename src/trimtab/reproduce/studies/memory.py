"""Peak memory of one update, as one batch or as single samples that wait in a window.

A process of its own does the update, for the peak belongs to a process and never falls. Its
allocator gives back what is free, so that the peak is that of tensors, not of holes between them.
"""

import json
import os
import subprocess
import sys
from typing import Any

from trimtab.bench.machine import peak_megabytes

GIVEN_BACK = {"MALLOC_MMAP_THRESHOLD_": str(2**18)}
"""Asks glibc for memory of its own for every tensor of 256 KB and more, which goes back at once."""

SIDE = 224
"""Pixels a side, where the network does not say."""


def measure(method: str, model: str, images: int, batch_size: int) -> dict[str, Any]:
    """Megabytes beyond what libraries take: ``idle`` and at the ``peak``; ``updates``.

    Args:
        method: By name.
        model: By name; its weights are random, and of no matter.
        images: All that the update learns from.
        batch_size: In which they come; smaller ones wait in a window until all are there.
    """
    words = json.dumps(
        {"method": method, "model": model, "images": images, "batch_size": batch_size}
    )
    command = [sys.executable, "-m", "trimtab.reproduce.studies.memory", words]
    surroundings = {**GIVEN_BACK, **os.environ}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=surroundings)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ValueError(f"memory of {method} on {model} could not be measured: {last}")
    record: dict[str, Any] = json.loads(done.stdout)
    return record


def measure_here(method: str, model: str, images: int, batch_size: int) -> dict[str, Any]:
    """The same in this process, which should have done nothing else."""
    import torch

    import trimtab
    from trimtab import models

    torch.set_num_threads(1)
    torch.manual_seed(0)
    # Whatever is loaded on first use is in memory before the measurement begins.
    warm_up = trimtab.adapt(models.load("fashion_vit"), method)
    warm_up(torch.rand(2, 3, 32, 32))
    with torch.device("meta"):
        models.build(model, weights="random")
    runtime = peak_megabytes()
    window = images if batch_size < images else None
    adapter = trimtab.adapt(models.load(model, weights="random"), method, window=window)
    side = models.describe(model).preprocessing.input_size or SIDE
    inputs = torch.rand(images, 3, side, side)
    adapter.predict(inputs[:1])
    idle = peak_megabytes()
    for batch in inputs.split(batch_size):
        adapter(batch)
    return {
        "idle": idle - runtime,
        "peak": peak_megabytes() - runtime,
        "updates": adapter.counters.updates,
    }


if __name__ == "__main__":
    print(json.dumps(measure_here(**json.loads(sys.argv[1]))))
