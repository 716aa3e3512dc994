"""Cost and memory of adaptation without a backward pass: ``python benchmarks/forward_only.py``.

Each row is a process of its own, on one thread: a backbone (torch, ONNX, dynamically quantised) and
a method, or the backbone alone, on the same corrupted images. Time is the processor's; memory is
the peak of the whole process, less what it had before the first batch.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import trimtab
from trimtab.models.loading import build
from trimtab.streams import load as load_images
from trimtab.streams import scenario

NETWORKS = ("fashion_resnet20_bn", "fashion_resnet20_gn", "fashion_vit")
ROWS = (
    ("torch", ""),
    ("torch", "neo + temporal_prior"),
    ("torch", "tent"),
    ("onnx", ""),
    ("onnx", "source + temporal_prior"),
    ("onnx", "neo + temporal_prior"),
    ("onnx", "t3a"),
    ("quantised", ""),
    ("quantised", "neo + temporal_prior"),
)
Predict = Callable[[Tensor], Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images-per-domain", type=int, default=32)
    parser.add_argument("--one", nargs=3, metavar=("NETWORK", "KIND", "METHOD"))
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measured(*args.one, args.images_per_domain)))
        return
    found = []
    for network in NETWORKS:
        for kind, method in ROWS:
            words = [sys.executable, "-W", "ignore", __file__, "--one", network, kind, method]
            words += ["--images-per-domain", str(args.images_per_domain)]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
            print(found[-1], flush=True)
    lines = ",\n".join(json.dumps(row) for row in found)
    (args.out / "forward_only.json").write_text(f"[\n{lines}\n]\n")


def measured(network: str, kind: str, method: str, per_domain: int) -> dict[str, Any]:
    torch.set_num_threads(1)
    stream = scenario("continual").stream(
        load_images("fashion_mnist"), seed=0, images_per_domain=per_domain
    )
    batches = [(batch.inputs, batch.labels) for batch in stream]
    predict = plain(network, kind) if not method else adapted(network, kind, method)
    predict(batches[0][0][:8])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    hits, seconds = 0, time.process_time()
    for inputs, labels in batches:
        hits += int((predict(inputs).argmax(1) == labels).sum())
    seconds = time.process_time() - seconds
    images = sum(len(labels) for _, labels in batches)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "network": network,
        "kind": kind,
        "method": method or "plain",
        "images": images,
        "error": round(100 * (1 - hits / images), 2),
        "ms": round(1000 * seconds / images, 3),
        "more_megabytes": round((peak - before) / 1024, 1),
        "peak_megabytes": round(peak / 1024, 1),
    }


def plain(network: str, kind: str) -> Predict:
    model = build(network)
    if kind == "onnx":
        backbone = trimtab.OnnxBackbone(exported(model), threads=1)
        return lambda inputs: backbone(inputs).logits
    module = quantised(model) if kind == "quantised" else model

    @torch.inference_mode()
    def predict(inputs: Tensor) -> Tensor:
        return module(inputs)  # type: ignore[no-any-return]

    return predict


def adapted(network: str, kind: str, method: str) -> Predict:
    model: Any = build(network)
    if kind == "onnx":
        model = trimtab.OnnxBackbone(exported(model), threads=1)
    elif kind == "quantised":
        model = quantised(model)
    return trimtab.adapt(model, method)


def quantised(model: nn.Module) -> nn.Module:
    return torch.ao.quantization.quantize_dynamic(model, {nn.Linear})  # type: ignore[no-any-return]


def exported(model: nn.Module) -> Path:
    path = Path(tempfile.mkdtemp()) / "net.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model, (torch.rand(2, 3, 32, 32),), path, dynamo=False, input_names=["x"],
            output_names=["y"], dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}},
        )  # fmt: skip
    return path


if __name__ == "__main__":
    main()
