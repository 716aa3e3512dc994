"""Example images: what one image looks like in every domain of a stream, as small PNGs."""

import os
from collections.abc import Iterable

from torch import Tensor
from torch.nn import functional

from trimtab import streams
from trimtab.bench.data import open_data
from trimtab.bench.example_files import ExampleFiles, Examples, Shown
from trimtab.bench.png import png
from trimtab.bench.spec import RunSpec

MOST_PIXELS = 64
"""Largest side of an example; larger images are made smaller."""

MOST_DOMAINS = 24


def examples(specs: Iterable[RunSpec], seed: int = 0) -> Examples:
    """Examples of the streams of these runs; data that are not at hand are left out."""
    found: Examples = {}
    for shown in dict.fromkeys(Shown.of(spec) for spec in specs):
        try:
            found[shown] = _one_each(shown, seed)
        except (ValueError, OSError, ImportError):
            continue
    return found


def keep_examples(folder: str | os.PathLike[str], specs: Iterable[RunSpec]) -> None:
    """Put the examples of these runs into a store, unless they are there."""
    files = ExampleFiles(folder)
    new = [spec for spec in specs if not files.has(Shown.of(spec))]
    for shown, images in examples(new).items():
        files.put(shown, images)


def _one_each(shown: Shown, seed: int) -> dict[str, bytes]:
    """One image of each domain: the same one where domains are corruptions of the same images."""
    stream = streams.scenario("continual(same_order=True)").stream(
        open_data(shown.data),
        seed=seed,
        batch_size=1,
        severity=shown.severity,
        images_per_domain=1,
    )
    files: dict[str, bytes] = {}
    for batch in stream:
        name = stream.domain_names[int(batch.domain[0])]
        files.setdefault(name, thumbnail(batch.inputs[0]))
        if len(files) == MOST_DOMAINS:
            break
    return files


def thumbnail(image: Tensor) -> bytes:
    """A PNG of an image, (3, height, width) in [0, 1], no side longer than ``MOST_PIXELS``."""
    longest = max(image.shape[1:])
    if longest > MOST_PIXELS:
        size = [max(1, round(side * MOST_PIXELS / longest)) for side in image.shape[1:]]
        image = functional.interpolate(image[None], size=size, mode="area")[0]
    pixels = (image.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).contiguous()
    height, width, _ = pixels.shape
    return png(width, height, bytes(pixels.flatten().tolist()))
