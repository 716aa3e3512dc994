"""Replicas of a local Ray Serve killed under load: no stream is lost, nothing is learned twice.

    python benchmarks/ray_kills.py --kills 3 --streams 6

Every stream is sent by a Follower, which sends again what a killed replica has lost. At the end
each stream must have learned from each of its requests once, in order: its number of samples says
so, and its state file is compared with a replay in this process.
"""

import argparse
import json
import os
import random
import signal
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import ray
import torch
from ray import serve

import trimtab
from trimtab import models
from trimtab.fleets.names import file_stem
from trimtab.server.follower import Follower
from trimtab.server.options import default_options
from trimtab.server.ray import APP, build

MODEL, METHOD = "fashion_resnet20_gn", "tent"


def samples(stream: int, number: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    return np.random.default_rng([stream, number]).random((2, 3, 32, 32), np.float32)


def follow(url: str, stream: int, ended: threading.Event, sent: dict[int, int]) -> None:
    with trimtab.Client(url, MODEL, patience=120, timeout=120) as client:
        follower = Follower(client, f"cam-{stream}", patience=120)
        number = 0
        while not ended.is_set():
            number += 1
            follower(samples(stream, number))
            sent[stream] = number


def kill(draw: random.Random, shards: int) -> str:
    """Kill a replica's process; which shard it was."""
    shard = draw.randrange(shards)
    handle = serve.get_deployment_handle(f"shard-{shard}", APP)
    os.kill(handle.process.remote().result(timeout_s=120), signal.SIGKILL)
    return f"shard-{shard}"


def replayed(stream: int, requests: int) -> trimtab.Adapter:
    adapter = trimtab.fleet(models.load(MODEL), METHOD)[f"cam-{stream}"]
    for number in range(1, requests + 1):
        adapter(torch.from_numpy(samples(stream, number)))
    return adapter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--streams", type=int, default=6)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument(
        "--pause", type=float, default=6.0, help="seconds between kills, on average"
    )
    parser.add_argument("--port", type=int, default=18265)
    args = parser.parse_args()
    torch.set_num_threads(1)
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        options = default_options(
            model=MODEL, method=METHOD, window=0, store=folder, save_samples=8, save_seconds=1.0,
            max_batch=1,
        )  # fmt: skip
        ray.init(include_dashboard=False, log_to_driver=False, num_cpus=args.shards + 2)
        serve.start(http_options={"host": "127.0.0.1", "port": args.port})
        serve.run(build(options, args.shards), name=APP, route_prefix="/")
        url, ended, sent = f"http://127.0.0.1:{args.port}", threading.Event(), {}
        threads = [
            threading.Thread(target=follow, args=(url, stream, ended, sent))
            for stream in range(args.streams)
        ]
        for thread in threads:
            thread.start()
        killed = []
        for _ in range(args.kills):
            time.sleep(args.pause * (0.5 + draw.random()))
            killed.append(kill(draw, args.shards))
        time.sleep(args.pause)
        ended.set()
        for thread in threads:
            thread.join()
        with trimtab.Client(url, MODEL, patience=120) as client:
            told = {stream: client.stream(f"cam-{stream}") for stream in range(args.streams)}
            listed = len(client.streams())
        serve.shutdown()  # drains and saves
        ray.shutdown()
        exact = 0
        for stream, requests in sent.items():
            assert told[stream]["learned_through"] == requests, (stream, told[stream], requests)
            assert told[stream]["samples"] == 2 * requests
            found = trimtab.fleet(models.load(MODEL), METHOD)[f"cam-{stream}"]
            found.load(Path(folder) / f"{file_stem(f'cam-{stream}')}.safetensors")
            expected = replayed(stream, found.state.learned_through or 0)
            exact += all(
                torch.equal(found.params[name], value) for name, value in expected.params.items()
            )
        print(
            json.dumps(
                {
                    "killed": killed,
                    "streams": args.streams,
                    "listed": listed,
                    "requests": sum(sent.values()),
                    "bit_equal_to_a_replay": exact,
                }
            )
        )
        assert exact == listed == args.streams


if __name__ == "__main__":
    main()
