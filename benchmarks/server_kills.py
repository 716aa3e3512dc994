"""SIGKILL at random moments under load: what a server called durable is there, nothing twice.

    python benchmarks/server_kills.py --kills 100
    python benchmarks/server_kills.py --kills 20 --max-batch 64

Followers send streams of numbered requests. The server is killed, the state files that it left are
compared with a replay of what they say they learned, and the server is started again on the same
folder. With ``--max-batch 1`` every stream is computed alone and the comparison is bit for bit;
with more, rounding depends on who was in a round with whom, so that numbers and counters have to
be equal and parameters close.

One process has torch and the network loaded and forks a server for each life.
"""

import argparse
import json
import multiprocessing
import os
import random
import signal
import socket
import sys
import tempfile
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import torch
from torch import Tensor

import trimtab
from trimtab import models
from trimtab.fleets.names import file_stem
from trimtab.server.client import Client
from trimtab.server.follower import Follower
from trimtab.server.options import Options, default_options

MODEL, METHOD = "fashion_resnet20_gn", "tent"
CLOSE = 1e-2


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def forge(options: Options, port: int, orders: Connection) -> None:
    """Fork a server whenever that is ordered, and say its process id."""
    import uvicorn

    from trimtab.server.app import make_server_app
    from trimtab.server.building import make_service

    torch.set_num_threads(1)
    models.load(options["model"])  # imports, and the weight file in the cache
    while orders.recv():
        child = os.fork()
        if not child:
            config = uvicorn.Config(
                make_server_app(make_service(options)), port=port, log_config=None, access_log=False
            )
            uvicorn.Server(config).run()
            os._exit(0)
        orders.send(child)
        os.waitpid(child, 0)
        orders.send(None)


def samples(stream: int, number: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return np.random.default_rng([stream, number]).random((2, 3, 32, 32), np.float32)


class Sender(threading.Thread):
    """Follows one stream through all lives of the server."""

    def __init__(self, url: str, stream: int, ended: threading.Event) -> None:
        super().__init__(daemon=True)
        self.url, self.stream, self.ended = url, stream, ended
        self.follower: Follower | None = None
        self.sent = 0

    def run(self) -> None:
        with Client(self.url, MODEL, patience=300, timeout=300) as client:
            self.follower = Follower(client, f"cam-{self.stream}", patience=300)
            while not self.ended.is_set():
                self.follower(samples(self.stream, self.sent + 1))
                self.sent += 1


class Replay:
    """One stream as it has to be, up to any number that rises."""

    def __init__(self, backbone: trimtab.Backbone, stream: int) -> None:
        self.stream, self.name, self.number = stream, f"cam-{stream}", 0
        self.fleet = trimtab.fleet(backbone, METHOD)

    def through(self, number: int) -> dict[str, Any]:
        assert number >= self.number, f"{self.name} went back from {self.number} to {number}"
        while self.number < number:
            self.number += 1
            self.fleet.step({self.name: torch.from_numpy(samples(self.stream, self.number))})
        self.fleet[self.name].state.learned_through = number
        return self.fleet[self.name].state_dict()


def difference(left: Any, right: Any) -> float:
    """Largest difference of tensors; infinite where anything else differs."""
    if isinstance(left, dict):
        if left.keys() != right.keys():
            return float("inf")
        return max((difference(left[key], right[key]) for key in left), default=0.0)
    if isinstance(left, Tensor):
        if left.shape != right.shape or left.dtype == torch.uint8:
            return 0.0 if torch.equal(left, right) else float("inf")
        return float((left - right).abs().max()) if left.numel() else 0.0
    return 0.0 if left == right else float("inf")


def check(folder: Path, replay: Replay, promised: int, opened: trimtab.Fleet) -> tuple[int, float]:
    """Number and difference of a stream's file; it may lack only what was never called durable."""
    path = folder / f"{file_stem(replay.name)}.safetensors"
    if not path.exists():
        assert promised == 0, f"{replay.name} is lost, it was durable through {promised}"
        return 0, 0.0
    opened[replay.name].load(path)
    number = opened[replay.name].state.learned_through or 0
    assert number >= promised, f"{replay.name}: {number} is there, {promised} was called durable"
    return number, difference(opened[replay.name].state_dict(), replay.through(number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--streams", type=int, default=6)
    parser.add_argument("--max-batch", type=int, default=1)
    parser.add_argument("--life", type=int, default=40, help="most requests answered in a life")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    draw, port, began = random.Random(args.seed), free_port(), time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = default_options(
            model=MODEL, method=METHOD, window=0, store=name, save_samples=6, save_seconds=0.2,
            max_batch=args.max_batch,
        )  # fmt: skip
        orders, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        smith = context.Process(target=forge, args=(options, port, theirs), daemon=True)
        smith.start()
        backbone = models.load(MODEL)
        opened = trimtab.fleet(backbone, METHOD)
        replays = [Replay(backbone, stream) for stream in range(args.streams)]
        ended = threading.Event()
        url = f"http://127.0.0.1:{port}"
        senders = [Sender(url, stream, ended) for stream in range(args.streams)]
        kills, worst, seen = 0, 0.0, 0
        while kills < args.kills and time.monotonic() - began < args.seconds:
            orders.send(True)
            server = orders.recv()
            ready(url)
            if not kills:
                for sender in senders:
                    sender.start()
            live(senders, draw.randint(0, args.life))
            time.sleep(draw.uniform(0.0, 0.1))
            os.kill(server, signal.SIGKILL)
            orders.recv()
            kills += 1
            promises = [s.follower.durable_through if s.follower else 0 for s in senders]
            found = [
                check(folder, replay, promise, opened)
                for replay, promise in zip(replays, promises, strict=True)
            ]
            seen = sum(number for number, _ in found)
            worst = max([worst, *(far for _, far in found)])
            assert worst == 0.0 if args.max_batch == 1 else worst < CLOSE, worst
            print(f"kill {kills}: {seen} requests in files, difference {worst:g}", file=sys.stderr)
        smith.terminate()
        result = {
            **vars(args),
            "kills": kills,
            "requests_learned": seen,
            "requests_sent": sum(sender.sent for sender in senders),
            "largest_difference": worst,
        }
        print(json.dumps(result))
        os._exit(0)  # senders still wait for a server


def live(senders: list[Sender], requests: int) -> None:
    """Wait until so many requests were answered; not for ever."""
    enough = sum(sender.sent for sender in senders) + requests
    until = time.monotonic() + 60
    while sum(sender.sent for sender in senders) < enough and time.monotonic() < until:
        time.sleep(0.005)


def ready(url: str) -> None:
    for _ in range(3000):
        try:
            if httpx.get(f"{url}/v2/health/ready", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.02)
    raise RuntimeError("the server did not start")


if __name__ == "__main__":
    main()
