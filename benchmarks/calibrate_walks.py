"""Measure the calibrations of the shipped networks: ``python benchmarks/calibrate_walks.py``.

Each file in src/trimtab/streams/calibrations holds a network's source accuracy under pairs of
corruptions, which ``walk`` streams follow. Pairs that are done are kept in --work and not measured
again.
"""

import argparse
import json
from functools import partial
from pathlib import Path

import numpy as np
import torch

from trimtab.models import load
from trimtab.streams import calibration
from trimtab.streams import load as load_images
from trimtab.streams.domains import Corrupted

PLACE = Path(calibration.__file__).with_name("calibrations")
NETWORKS = ("resnet20_bn", "resnet20_gn", "vit")


@torch.no_grad()
def predicted(backbone: object, batch: torch.Tensor) -> torch.Tensor:
    return backbone(batch).logits  # type: ignore[operator, no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="fashion_mnist")
    parser.add_argument("--images", type=int, default=100)
    parser.add_argument("--work", type=Path, required=True)
    arguments = parser.parse_args()
    prefix = "fashion" if arguments.data == "fashion_mnist" else "cifar10"
    names = [f"{prefix}_{network}" for network in NETWORKS]
    models = {name: partial(predicted, load(name)) for name in names}
    domains = Corrupted(load_images(arguments.data))
    arguments.work.mkdir(parents=True, exist_ok=True)
    grids: dict[str, dict[calibration.Pair, calibration.Grid]] = {name: {} for name in names}
    for pair in calibration.neighbours(domains.names):
        kept = arguments.work / f"{prefix}-{'+'.join(pair)}-{arguments.images}.json"
        if not kept.exists():
            measured = calibration.measure(models, domains, [pair], images=arguments.images)
            found = {name: one.grids[pair].tolist() for name, one in measured.items()}
            kept.write_text(json.dumps(found))
            print(pair, flush=True)
        for name, grid in json.loads(kept.read_text()).items():
            grids[name][pair] = np.array(grid)
    for name in names:
        one = calibration.Calibration(name, arguments.images, 10, grids[name])
        one.save(PLACE / f"{name}.json")


if __name__ == "__main__":
    main()
