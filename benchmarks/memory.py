"""Peak memory of one update from 64 images: as one batch, and as single samples in a window.

Each case runs in a process of its own, one after the other, on a network of ViT-B/16's size with
random weights: ``python benchmarks/memory.py``. What Python and torch take before there is a
network is left out, as it is in a count of an accelerator's memory; weights and images are in.
The paper's table (arXiv:2306.00650) has 10.90 GB for a batch of 64 and 0.69 GB for single samples
with ROID on a ViT-B/16: a ratio of 15.8.
"""

import argparse
import json
import resource
import subprocess
import sys

from rich.console import Console
from rich.table import Table

CASES = {"batch of 64": 64, "single samples, window of 64": 1}


def network(depth: int, width: int, side: int):  # type: ignore[no-untyped-def]
    """A vision transformer with patches of 16 px and a thousand classes."""
    import torch
    from torch import Tensor, nn

    class VisionTransformer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, width, 16, 16)
            self.positions = nn.Parameter(torch.randn((side // 16) ** 2 + 1, width) * 0.02)
            self.token = nn.Parameter(torch.zeros(1, 1, width))
            layer = nn.TransformerEncoderLayer(
                width, width // 64, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
            )
            self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, 1000)

        def forward(self, images: Tensor) -> Tensor:
            tokens = self.patches(images).flatten(2).transpose(1, 2)
            tokens = torch.cat([self.token.expand(len(images), -1, -1), tokens], 1)
            return self.head(self.norm(self.blocks(tokens + self.positions))[:, 0])

    torch.manual_seed(0)
    return VisionTransformer()


def measure(method: str, size: int, side: int, depth: int, width: int) -> dict[str, float]:
    """Peak memory of this process in MB: of Python and torch alone, idle, and with 64 images."""
    import torch

    import trimtab

    _ = torch.ones(64, 64, requires_grad=True).mm(torch.ones(64, 64)).sum().backward()
    runtime = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    adapter = trimtab.adapt(network(depth, width, side), method, window=64 if size == 1 else None)
    images = torch.rand(64, 3, side, side)
    adapter(images[:1]) if size == 1 else adapter.predict(images[:1])
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for batch in images.split(size):
        adapter(batch)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    updates = adapter.counters.updates
    return {"idle": idle - runtime, "peak": peak - runtime, "updates": updates}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=["roid", "tent"])
    parser.add_argument("--side", type=int, default=224, help="pixels a side")
    parser.add_argument("--depth", type=int, default=12, help="transformer blocks")
    parser.add_argument("--width", type=int, default=768, help="features a token")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    sizes = (args.side, args.depth, args.width)
    if args.case:
        print(json.dumps(measure(args.case[0], int(args.case[1]), *sizes)))
        return
    console = Console()
    table = Table("method", "64 images as", "peak MB", "of it idle MB", "ratio to batch")
    for method in args.methods:
        peaks = []
        for name, size in CASES.items():
            command = [sys.executable, __file__, "--case", method, str(size)]
            command += [f"--side={args.side}", f"--depth={args.depth}", f"--width={args.width}"]
            with console.status(f"{method}: {name}"):
                done = subprocess.run(command, check=True, capture_output=True, text=True)
            result = json.loads(done.stdout)
            peaks.append(result["peak"])
            ratio = f"1 / {peaks[0] / peaks[-1]:.1f}"
            table.add_row(method, name, f"{peaks[-1]:.0f}", f"{result['idle']:.0f}", ratio)
    console.print(table)


if __name__ == "__main__":
    main()
