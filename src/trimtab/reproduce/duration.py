"""Estimated duration of experiments on this machine, from a short look at it."""

import statistics
import time
from collections.abc import Sequence

import torch

from trimtab import models, streams
from trimtab.bench.data import open_data
from trimtab.bench.spec import RunSpec
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Study
from trimtab.streams.corruptions import BENCHMARK

MULTIPLES = {"source": 1.0, "lame": 1.1, "bn1": 1.3, "tent": 3.0, "eata": 3.0, "eta": 3.0}
MULTIPLES |= {"sar": 5.0, "roid": 5.0, "rotta": 8.0, "cotta": 50.0, "rmt": 9.0, "adacontrast": 12.0}
"""Time of a batch as a multiple of a plain forward, as measured on a small residual network."""

OTHER_MULTIPLE = 5.0
STUDY_SECONDS = 10.0
BATCH = 16
DOMAINS = 15


class Stopwatch:
    """Times a few plain forwards and a few corrupted images; the rest is arithmetic.

    Images that are not there are taken as free to make, and their domains as fifteen.
    """

    def __init__(self, setup: Setup) -> None:
        torch.set_num_threads(1)
        try:
            self.images = open_data(setup.data)
            self._making()  # the first images of a process take longer
            self.making = self._making()
        except OSError:
            self.images = None
            self.making = 0.0
        self.forward = {name: _forward(name) for name in setup.networks}

    def minutes(self, specs: Sequence[RunSpec], studies: Sequence[Study], workers: int) -> float:
        """Minutes for all of these, ``workers`` at a time."""
        seconds = sum(map(self._seconds, specs)) + sum(map(self._study_seconds, studies))
        return seconds / 60 / max(1, workers)

    def _seconds(self, spec: RunSpec) -> float:
        multiple = MULTIPLES.get(spec.method, OTHER_MULTIPLE)
        forward = self.forward.get(spec.model) or statistics.fmean(self.forward.values())
        return self._samples(spec) * (self.making + forward * (1 + multiple))

    def _study_seconds(self, study: Study) -> float:
        forward = statistics.fmean(self.forward.values())
        return STUDY_SECONDS if study.forwards is None else study.forwards * forward

    def _samples(self, spec: RunSpec) -> int:
        visits = len(streams.scenario(spec.scenario).visits(BENCHMARK))
        images = spec.images_per_domain or getattr(self.images, "__len__", lambda: 5000)()
        return visits * images

    def _making(self) -> float:
        stream = streams.scenario("mixed").stream(
            self.images, seed=0, batch_size=DOMAINS, images_per_domain=1
        )
        clock = time.perf_counter()
        count = sum(len(batch.inputs) for batch in stream)
        return (time.perf_counter() - clock) / count


@torch.no_grad()
def _forward(name: str) -> float:
    """Seconds a sample, of a network with random weights."""
    entry = models.describe(name)
    network = entry.make(entry.num_classes).eval()
    side = entry.preprocessing.input_size or 32
    inputs = torch.rand(BATCH, 3, side, side)
    network(inputs)
    clock = time.perf_counter()
    network(inputs)
    return (time.perf_counter() - clock) / BATCH
