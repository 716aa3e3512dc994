"""Tiny specs and stores for the tests of the benchmark."""

from pathlib import Path
from typing import Any

from trimtab.bench.spec import RunSpec


def tiny_spec(**changes: Any) -> RunSpec:
    """A run of a second: 15 domains of 8 images."""
    fields: dict[str, Any] = {
        "method": "source",
        "model": "fashion_resnet20_gn",
        "data": "fashion_mnist",
        "scenario": "continual",
        "images_per_domain": 8,
        "batch_size": 8,
    }
    return RunSpec(**fields | changes)


SUITE = """
title = "Tiny"

[defaults]
data = "fashion_mnist"
images_per_domain = 3
batch_size = 16
model = "fashion_resnet20_gn"

[[grid]]
method = ["source", "tent", { name = "roid", lr = 0.01 }]
scenario = ["continual", "mixed"]
seed = [0, 1]
"""


def write_suite(folder: Path) -> Path:
    path = folder / "tiny.toml"
    path.write_text(SUITE)
    return path
