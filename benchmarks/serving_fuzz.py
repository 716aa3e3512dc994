"""Schemathesis over the server's OpenAPI description: no request may bring an answer of 5xx.

    pip install schemathesis
    python benchmarks/serving_fuzz.py --examples 50

Serves the shipped network in a process of its own, on this machine only.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from serving import free_port, start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=50, help="per operation and phase")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    served = argparse.Namespace(
        model="fashion_resnet20_gn", method="tent", window=0, max_batch=64, store=True
    )
    port = free_port()
    with tempfile.TemporaryDirectory() as store:
        process = start(served, store, port)
        try:
            command = [
                str(Path(sys.executable).with_name("schemathesis")), "run",
                f"http://127.0.0.1:{port}/openapi.json", "--checks", "not_a_server_error",
                "--max-examples", str(args.examples), "--seed", str(args.seed),
                "--phases", "examples,coverage,fuzzing", "--no-color",
            ]  # fmt: skip
            return subprocess.run(command, check=False).returncode
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


if __name__ == "__main__":
    sys.exit(main())
