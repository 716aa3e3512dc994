"""What serving costs: the server's time per sample beside the bare fleet's, in turns.

    python benchmarks/serving.py --streams 64 --rounds 6

One process is the server, this one the client and the bare fleet. Times are of the clock, which
means something on an idle machine only, and of the processor: what the process that computes has
used per sample, which hardly depends on what else the machine does. With a window, streams begin at
different places of it, as if they had come at different times.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import torch

import trimtab
from trimtab import models
from trimtab.server.client import encoded
from trimtab.server.live import percentile
from trimtab.server.protocol import HEADER_LENGTH

TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid: int) -> float:
    """Processor time that a process has used, all of its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(args: argparse.Namespace, store: str, port: int) -> subprocess.Popen[bytes]:
    command = [
        sys.executable, "-m", "trimtab", "serve", "--model", args.model, "--method", args.method,
        "--window", str(args.window), "--port", str(port), "--log-level", "warning",
        "--max-batch", str(args.max_batch), "--idle-seconds", "3600",
    ]  # fmt: skip
    if args.store:
        command += ["--store", store]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    for _ in range(600):
        try:
            if httpx.get(f"http://127.0.0.1:{port}/v2/health/ready").is_success:
                return process
        except httpx.TransportError:
            time.sleep(0.2)
    raise RuntimeError("the server did not start")


class Cost(NamedTuple):
    """Seconds per sample, of the clock and of the processor."""

    clock: float
    processor: float


class Load:
    """Single samples of ``streams`` streams, ``depth`` requests of each under way at a time.

    Written on bare sockets: a client that costs much would be what is measured.
    """

    def __init__(self, args: argparse.Namespace, port: int, streams: int, name: str) -> None:
        self.port, self.depth, self.name = port, args.depth, name
        self.requests = [self._request(args, place) for place in range(streams)]
        self.latencies: list[float] = []

    def _request(self, args: argparse.Namespace, place: int) -> bytes:
        sample = np.random.default_rng(place).random((1, 3, 32, 32), np.float32)
        parameters = {"sequence_id": f"{self.name}-{place}", "binary_data_output": True}
        body, length = encoded(sample, parameters)
        head = (
            f"POST /v2/models/{args.model}/infer HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"{HEADER_LENGTH}: {length}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body

    def cost(self, each: int, pid: int) -> "Cost":
        """What ``each`` requests of every stream cost the server."""
        before, began = processor_seconds(pid), time.monotonic()
        asyncio.run(self.send(each))
        samples = each * len(self.requests)
        return Cost(
            (time.monotonic() - began) / samples, (processor_seconds(pid) - before) / samples
        )

    async def spread(self, window: int) -> None:
        """Other numbers of requests of each stream, so that windows fill one after the other."""
        await asyncio.gather(
            *(
                self._follow(request, place % window)
                for place, request in enumerate(self.requests)
                if place % window
            )
        )

    async def send(self, each: int) -> None:
        """``each`` requests of every stream."""
        await asyncio.gather(
            *(
                self._follow(request, each // self.depth)
                for request in self.requests
                for _ in range(self.depth)
            )
        )

    async def _follow(self, request: bytes, times: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for _ in range(times):
            began = time.monotonic()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = head.lower().split(b"\r\ncontent-length:")[1].split(b"\r\n")[0]
            await reader.readexactly(int(length))
            self.latencies.append(time.monotonic() - began)
        writer.close()


class Bare:
    """The same fleet without a server, stepping ``at_once`` streams of single samples."""

    def __init__(self, args: argparse.Namespace) -> None:
        torch.set_num_threads(1)
        backbone = models.load(args.model)
        self.fleet = trimtab.fleet(backbone, args.method, window=args.window or None)
        self.names = [f"bare-{place}" for place in range(args.streams)]
        self.samples = torch.rand(args.streams, 3, 32, 32)
        self.at_once = args.at_once
        self.step()
        for number in range(1, args.window):  # windows fill one after the other
            self.step(skipped=number)

    def steps(self, times: int) -> Cost:
        """What ``times`` requests of every stream cost."""
        began = time.monotonic(), time.process_time()
        for _ in range(times):
            self.step()
        samples = times * len(self.names)
        return Cost(
            (time.monotonic() - began[0]) / samples, (time.process_time() - began[1]) / samples
        )

    def step(self, skipped: int = 0) -> None:
        """One request of every stream but the first ones."""
        for first in range(skipped, len(self.names), self.at_once):
            chosen = range(first, min(first + self.at_once, len(self.names)))
            batches = {self.names[place]: self.samples[place : place + 1] for place in chosen}
            self.fleet.step(batches)


def round_size(port: int) -> float:
    """Samples in a fleet step, on average."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    values = [
        float(line.rsplit(" ", 1)[1])
        for name in ("sum", "count")
        for line in text.splitlines()
        if line.startswith(f"trimtab_round_samples_{name}")
    ]
    return round(values[0] / values[1], 1)


def told(kind: str, alone: list[float], served: list[Cost], many: list[Cost]) -> dict[str, Any]:
    """Milliseconds per sample and shares of the bare fleet's throughput, by one kind of time."""
    own, crowd = ([getattr(cost, kind) for cost in costs] for costs in (served, many))
    shares = [a / s for a, s in zip(alone, own, strict=True)]
    found = {
        f"bare_ms_{kind}": round(1000 * statistics.median(alone), 3),
        f"served_ms_{kind}": round(1000 * statistics.median(own), 3),
        f"throughput_of_bare_{kind}": round(statistics.median(shares), 3),
        f"throughputs_of_bare_{kind}": [round(share, 3) for share in shares],
    }
    if crowd:
        ratios = [s / c for s, c in zip(own, crowd, strict=True)]
        found[f"many_ms_{kind}"] = round(1000 * statistics.median(crowd), 3)
        found[f"throughput_of_many_{kind}"] = round(statistics.median(ratios), 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="cifar10_resnet20_gn")
    parser.add_argument("--method", default="roid")
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--at-once", type=int, default=64, help="streams of a bare fleet's step")
    parser.add_argument("--max-batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=6, help="turns of server and bare fleet")
    parser.add_argument("--per-round", type=int, default=8, help="requests a stream and turn")
    parser.add_argument("--depth", type=int, default=1, help="requests of a stream under way")
    parser.add_argument("--many", type=int, default=0, help="as many streams beside, in turns")
    parser.add_argument("--store", action="store_true", help="serve with checkpoints")
    args = parser.parse_args()
    bare = Bare(args)
    port = free_port()
    served: list[Cost] = []
    alone: list[Cost] = []
    many: list[Cost] = []
    load, crowd = Load(args, port, args.streams, "cam"), Load(args, port, args.many, "many")
    with tempfile.TemporaryDirectory() as store:
        process = start(args, store, port)
        try:
            for opened in (load, crowd):
                asyncio.run(opened.send(args.depth))
            if args.window:
                asyncio.run(load.spread(args.window))
            load.latencies.clear()
            for _ in range(args.rounds):
                served.append(load.cost(args.per_round, process.pid))
                if args.many:
                    many.append(crowd.cost(args.depth, process.pid))
                alone.append(bare.steps(args.per_round))
            rounds = round_size(port)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)
    latencies = load.latencies
    middle, late = percentile(latencies, 50), percentile(latencies, 99)
    print(
        json.dumps(
            {
                **vars(args),
                **told("clock", [cost.clock for cost in alone], served, many),
                **told("processor", [cost.processor for cost in alone], served, many),
                "samples_in_a_round": rounds,
                "latency_ms_median": round(1000 * middle, 1),
                "latency_ms_p99": round(1000 * late, 1),
                "p99_over_median": round(late / middle, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
