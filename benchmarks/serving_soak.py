"""Memory and file descriptors of a server under load: streams that come, go and come back.

    python benchmarks/serving_soak.py --seconds 1200

Growth is the median of the last quarter of the run over that of the second quarter.
"""

import argparse
import asyncio
import json
import signal
import statistics
import tempfile
import threading
import time
from pathlib import Path

from serving import free_port, start
from trimtab.server.load.drive import drive
from trimtab.server.load.summary import summary
from trimtab.server.load.traffic import Traffic


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1200)
    parser.add_argument("--streams", type=int, default=32)
    parser.add_argument("--pause-seconds", type=float, default=0.0, help="of a stream")
    args = parser.parse_args()
    served = argparse.Namespace(
        model="fashion_resnet20_gn", method="trimtab", window=64, max_batch=64, store=True
    )
    port, looks, ended = free_port(), [], threading.Event()
    with tempfile.TemporaryDirectory() as store:
        process = start(served, store, port)

        def look() -> None:
            while not ended.wait(2):
                looks.append((resident_mb(process.pid), descriptors(process.pid)))

        watcher = threading.Thread(target=look)
        watcher.start()
        began = time.monotonic()
        try:
            traffic = Traffic(args.streams, life=20, hostile=0.05)
            outcome = asyncio.run(
                drive(
                    f"http://127.0.0.1:{port}", served.model, (3, 32, 32), traffic,
                    most_requests=10**9, most_seconds=args.seconds,
                    pause_seconds=args.pause_seconds,
                )
            )  # fmt: skip
        finally:
            ended.set()
            watcher.join()
            process.send_signal(signal.SIGTERM)
            process.wait(120)
    quarter = len(looks) // 4
    early, late = looks[quarter : 2 * quarter], looks[3 * quarter :]
    found = summary(outcome)
    print(
        json.dumps(
            {
                "streams_at_once": args.streams,
                "pause_seconds": args.pause_seconds,
                "seconds": round(time.monotonic() - began),
                "samples": found["samples"],
                "streams": found["streams"],
                "statuses": found["statuses"],
                "hostile": found["hostile"],
                "broken_connections": found["broken_connections"],
                "memory_mb": [
                    round(statistics.median(m for m, _ in part)) for part in (early, late)
                ],
                "descriptors": [statistics.median(d for _, d in part) for part in (early, late)],
            }
        )
    )


if __name__ == "__main__":
    main()
