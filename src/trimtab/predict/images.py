"""Predict people's images and learn from them on the way: killed at any moment, it goes on."""

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trimtab.api import adapt
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.method import Method
from trimtab.predict.frames import Frame, count, frames
from trimtab.predict.journal import Journal, Row
from trimtab.predict.preparation import Prepare, class_names, network, preparation

DECODERS = 4
"""Threads that read image files."""


@dataclass
class Summary:
    """What ``predict_images`` did.

    Args:
        out: The table of predictions.
        state: The stream's state, from which it goes on.
        predicted: Images predicted by this call.
        earlier: Images that the table had already and that were passed over.
        bad: Images that could not be read, with the reason.
        adapter: The stream itself, as it is now.
    """

    out: Path
    state: Path
    adapter: Adapter
    predicted: int = 0
    earlier: int = 0
    bad: list[tuple[str, str]] = field(default_factory=list)


def predict_images(
    images: str | PathLike[str] | Iterable[str | PathLike[str]],
    model: str | nn.Module | Backbone = "fashion_resnet20_bn",
    method: str | Method = "trimtab",
    *,
    out: str | PathLike[str] = "predictions.csv",
    state: str | PathLike[str] | None = None,
    weights: str | PathLike[str] | None = None,
    num_classes: int | None = None,
    classes: str | PathLike[str] | Sequence[str] | None = None,
    size: int | None = None,
    resize: int | None = None,
    batch_size: int = 64,
    window: int | None = None,
    seed: int = 0,
    checkpoint_seconds: float = 5.0,
    progress: Callable[[Summary], None] = lambda summary: None,
    **options: Any,
) -> Summary:
    """Predict images one batch after the other, adapting on the way, into a CSV file.

    Started again after whatever stopped it, it goes on where it was: images that the table has are
    passed over, nothing is learned twice, and the table ends up as if nothing had happened. With
    another ``out`` and the same ``state`` the stream goes on with further images.

    Args:
        images: Files, folders, patterns, animations or videos; ``"-"`` reads paths from standard
            input.
        model: A name of ``trimtab models``, ``timm/NAME``, ``package.module:callable``, or a
            network that takes images in [0, 1].
        method: As for ``trimtab.adapt``; further ``options`` are the method's.
        state: Where the stream's state is kept; by default beside ``out``.
        weights: A file for the named network.
        classes: A file with the classes' names, a line each, or the names.
        size: Side of the network's input in pixels, where the table does not know it.
        resize: The shorter side is scaled to this before the centre is cut out.
        batch_size: Images that are predicted together; 1 predicts each as it comes.
        checkpoint_seconds: Time between two writings of table and state.
        progress: Called after each batch.
    """
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")
    many = [images] if isinstance(images, str | PathLike) else list(images)
    count(many)  # what is not there is said before anything begins
    names = class_names(classes if isinstance(classes, list | tuple) else _path(classes), model)
    prepare = preparation(model, size, resize)
    backbone = network(model, _path(weights), num_classes)
    _check_names(names, backbone.num_classes)
    adapter = adapt(backbone, method, window=window, seed=seed, **options)
    journal = Journal(Path(out), Path(state or f"{os.fspath(out)}.state.safetensors"))
    summary = Summary(journal.out, journal.state, adapter)
    last = time.monotonic()
    try:
        journal.open(adapter)
        left = _not_seen(frames(many), journal, summary)
        for batch in _batches(left, prepare, batch_size, adapter):
            journal.add(_rows(batch, adapter, names, summary))
            progress(summary)
            if time.monotonic() - last >= checkpoint_seconds:
                journal.commit(adapter)
                last = time.monotonic()
    finally:
        journal.commit(adapter)
        journal.close()
    return summary


def _path(path: Any) -> Path | None:
    return None if path is None else Path(path)


def _check_names(names: Sequence[str], num_classes: int | None) -> None:
    if names and num_classes not in (None, len(names)):
        raise ValueError(f"the network has {num_classes} classes, but {len(names)} have names")


def _not_seen(found: Iterable[Frame], journal: Journal, summary: Summary) -> Iterator[Frame]:
    """Frames that the table has no row of."""
    for frame in found:
        if journal.seen[frame.name] > 0:
            journal.seen[frame.name] -= 1
            summary.earlier += 1
        else:
            yield frame


Batch = list[tuple[str, Tensor | str]]
"""Names of images, each with its pixels, or with what is wrong with it."""


def _batches(
    left: Iterator[Frame], prepare: Prepare, size: int, adapter: Adapter
) -> Iterator[Batch]:
    """``size`` readable images at a time, with the bad ones that came between them."""
    batch: Batch = []
    with ThreadPoolExecutor(DECODERS) as pool:
        good: list[Tensor] = []
        while some := list(itertools.islice(left, size - len(good))):
            decoded = pool.map(lambda frame: _decoded(frame, prepare), some)
            for frame, image in zip(some, decoded, strict=True):
                if isinstance(image, Tensor):
                    image = _misfit(image, good, adapter) or image
                batch.append((frame.name, image))
                good += [image] if isinstance(image, Tensor) else []
            if len(good) == size:
                yield batch
                batch, good = [], []
    if batch:
        yield batch


def _decoded(frame: Frame, prepare: Prepare) -> Tensor | str:
    """The image, or what is wrong with it."""
    try:
        return prepare(frame.decode())
    except (OSError, ValueError, MemoryError) as error:
        return " ".join(str(error).split()) or type(error).__name__


def _misfit(image: Tensor, good: list[Tensor], adapter: Adapter) -> str:
    """Why an image cannot stand in the stream: it has another size than those before."""
    expected = adapter.state.sample_shape or (tuple(good[0].shape) if good else None)
    if expected is None or tuple(image.shape) == tuple(expected):
        return ""
    height, width = image.shape[1:]
    return (
        f"it has {width} x {height} pixels, the stream {expected[2]} x {expected[1]}; "
        "say with size= (--size) to which size images are brought"
    )


def _rows(batch: Batch, adapter: Adapter, names: Sequence[str], summary: Summary) -> list[Row]:
    """Predict the images of a batch and learn from them; a row for each, in their order."""
    images = [image for _, image in batch if isinstance(image, Tensor)]
    sample = adapter.counters.samples
    found = iter(_classes(images, adapter) if images else [])
    _check_names(names, adapter.backbone.num_classes)
    rows = []
    for name, image in batch:
        if isinstance(image, str):
            summary.bad.append((name, image))
            rows.append(Row(name, error=image))
            continue
        label, sure = next(found)
        sample += 1
        rows.append(Row(name, label, names[label] if names else "", sure, sample))
    summary.predicted += len(images)
    return rows


def _classes(images: list[Tensor], adapter: Adapter) -> list[tuple[int, float]]:
    """Class and confidence of each image."""
    inputs = torch.stack(images).to(adapter.backbone.device, adapter.backbone.dtype)
    try:
        confidence, predicted = adapter(inputs).float().softmax(1).max(1)
    except RuntimeError as error:
        height, width = inputs.shape[2:]
        raise ValueError(
            f"the network cannot take images of {width} x {height} pixels ({error}); say with "
            "size= (--size) to which size they are brought"
        ) from error
    return list(zip(predicted.tolist(), confidence.tolist(), strict=True))
