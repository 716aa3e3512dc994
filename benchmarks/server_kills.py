"""SIGKILL at random moments under load: what a server called durable is there, nothing twice.

    python benchmarks/server_kills.py --kills 100
    python benchmarks/server_kills.py --kills 20 --max-batch 64

Followers send streams of numbered requests. The server is killed, the state files that it left are
compared bit for bit with a replay of what they say they learned, and the server is started again
on the same folder. With ``--max-batch 1`` every stream is computed alone, and so it is replayed.
With more, the last bits depend on who was in a round with whom: the server keeps a journal of its
rounds, and these are replayed. How far a replay of each stream alone is off is told beside.

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
from trimtab.server.journal import Entry, read
from trimtab.server.options import Options, default_options
from trimtab.server.replay import Replay

MODEL, METHOD = "fashion_resnet20_gn", "tent"


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


class AloneReplay:
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


class RoundsReplay:
    """All streams as the rounds of a journal make them."""

    def __init__(self, backbone: trimtab.Backbone, journal: Path) -> None:
        self.journal, self.place = journal, 0
        self.rounds = self.requests = 0
        self.replay = Replay(trimtab.fleet(backbone, METHOD), _sent)

    def catch_up(self) -> None:
        """Make all rounds that were noted since."""
        for entries, place in read(self.journal, self.place):
            self.place = place
            self.replay.play(entries)
            self.rounds, self.requests = self.rounds + 1, self.requests + len(entries)

    @property
    def mean_streams(self) -> float:
        """Streams in a round, on average."""
        return round(self.requests / max(1, self.rounds), 2)


def _sent(entry: Entry) -> Tensor:
    assert entry.stream is not None
    assert entry.number is not None
    return torch.from_numpy(samples(int(entry.stream.removeprefix("cam-")), entry.number))


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


def check(
    folder: Path, alone: AloneReplay, rounds: RoundsReplay, promised: int, opened: trimtab.Fleet
) -> tuple[int, float, float]:
    """Number of a stream's file, and how far both replays are from it.

    The file may lack only what was never called durable.
    """
    path = folder / f"{file_stem(alone.name)}.safetensors"
    if not path.exists():
        assert promised == 0, f"{alone.name} is lost, it was durable through {promised}"
        return 0, 0.0, 0.0
    opened[alone.name].load(path)
    state = opened[alone.name].state_dict()
    number, seen = state["learned_through"], opened[alone.name].counters.samples
    assert number >= promised, f"{alone.name}: {number} is there, {promised} was called durable"
    made = rounds.replay.state(alone.name, (number, seen))
    return number, difference(state, made), difference(state, alone.through(number))


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
            max_batch=args.max_batch, journal=str(folder / "rounds"),
        )  # fmt: skip
        orders, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        smith = context.Process(target=forge, args=(options, port, theirs), daemon=True)
        smith.start()
        backbone = models.load(MODEL)
        opened = trimtab.fleet(backbone, METHOD)
        replays = [AloneReplay(backbone, stream) for stream in range(args.streams)]
        rounds = RoundsReplay(backbone, folder / "rounds")
        ended = threading.Event()
        url = f"http://127.0.0.1:{port}"
        senders = [Sender(url, stream, ended) for stream in range(args.streams)]
        kills, seen, worst, worst_alone = 0, 0, 0.0, 0.0
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
            rounds.catch_up()
            found = [
                check(folder, replay, rounds, promise, opened)
                for replay, promise in zip(replays, promises, strict=True)
            ]
            seen = sum(number for number, _, _ in found)
            worst = max(far for _, far, _ in found)
            worst_alone = max([worst_alone, *(far for _, _, far in found)])
            assert worst == 0.0, f"a file and the replay of its rounds differ by {worst}"
            assert worst_alone == 0.0 or args.max_batch > 1, worst_alone
            print(f"kill {kills}: {seen} requests, alone {worst_alone:g}", file=sys.stderr)
        smith.terminate()
        result = {
            **vars(args),
            "kills": kills,
            "requests_learned": seen,
            "requests_sent": sum(sender.sent for sender in senders),
            "streams_in_a_round": rounds.mean_streams,
            "difference_to_the_replayed_rounds": worst,
            "difference_to_each_stream_alone": worst_alone,
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
