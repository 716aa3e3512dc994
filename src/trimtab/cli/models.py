"""``trimtab models``: the table of networks, one of them in full, or a check of its weights."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

    from trimtab.models.entry import ModelEntry


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which network."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    actions.add_parser("list", help="the table (also without any action)")
    for action, summary in (
        ("show", "all that is known about one network"),
        ("check", "load one network; verify hash and clean accuracy where data is present"),
    ):
        subparser = actions.add_parser(action, help=summary, description=summary)
        subparser.add_argument("name")
        if action == "check":
            subparser.add_argument("--weights", type=Path, help="a local file instead")


def run(args: argparse.Namespace) -> int:
    """Print the table or one entry, or check a network: 1 where its accuracy is not as stated."""
    if args.action == "show":
        return _show(args.name)
    if args.action == "check":
        return _check(args.name, args.weights)
    return _list()


def _list() -> int:
    from rich.table import Table

    from trimtab.cli.console import console
    from trimtab.models import MODELS

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("name", "norm", "px", "trained on", "accuracy", "weights"):
        right = column in ("px", "accuracy")
        table.add_column(column, no_wrap=True, justify="right" if right else "left")
    for entry in MODELS.values():
        size, norm = str(entry.preprocessing.input_size), entry.norm_layers.replace(" norm", "")
        accuracy = "-" if entry.clean_accuracy is None else _percent(entry)
        table.add_row(entry.name, norm, size, entry.dataset, accuracy, _weights(entry))
    terminal = console()
    terminal.print(table)
    purposes = sorted({entry.only_for for entry in MODELS.values() if entry.only_for})
    terminal.print(f"* only for {', '.join(purposes)}; accuracy is on clean test images.")
    terminal.print(
        "Also timm/NAME and package.module:callable; trimtab models show NAME says more."
    )
    return 0


def _weights(entry: "ModelEntry") -> str:
    """Where the weights come from, in a word or two; with * where the network is for one use."""
    where = "shipped" if entry.shipped else entry.origin.split(";")[0].split(",")[0]
    if entry.is_users_own:
        where = "your file"
    return where + " *" * (entry.only_for is not None)


def _show(name: str) -> int:
    from trimtab.models import describe

    entry = describe(name)
    lines = {
        "name": entry.name,
        "architecture": entry.architecture,
        "norm layers": entry.norm_layers,
        "input size": f"{entry.preprocessing.input_size} px",
        "preprocessing": str(entry.preprocessing),
        "trained on": entry.dataset,
        "classes": entry.num_classes or "unknown",
        "clean accuracy": _percent(entry),
        "weights": entry.origin + (", shipped" if entry.shipped else ""),
        "address": entry.url or "none",
        "SHA-256": entry.sha256 or "not known",
        "only for": entry.only_for or "no restriction",
    }
    for label, value in lines.items():
        print(f"{label:15} {value}")
    return 0


def _percent(entry: "ModelEntry") -> str:
    return "not known" if entry.clean_accuracy is None else f"{entry.clean_accuracy:.2f} %"


def _check(name: str, weights: Path | None) -> int:
    from trimtab.models import build, describe

    entry = describe(name.partition("@")[0])
    model = build(name, weights=weights)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    print(f"{name}: loaded, {parameters:,} parameters")
    if weights is None and entry.sha256:
        print(f"SHA-256 is as stated: {entry.sha256}")
    data = _test_images(entry.dataset)
    if isinstance(data, str):
        print(f"clean accuracy was not measured: {data}")
        return 0
    from trimtab.models.accuracy import accuracy_of

    images, labels = data
    measured = 100 * accuracy_of(model, images, labels)
    print(f"clean accuracy {measured:.2f} % of {len(labels)} images; the table: {_percent(entry)}")
    if entry.clean_accuracy is None or weights is not None:
        return 0
    return 0 if agrees(measured, entry.clean_accuracy, len(labels)) else 1


def agrees(measured: float, stated: float, count: int) -> bool:
    """Equal to two digits on all test images, within three standard errors on a part of them."""
    if count == 10_000:
        return abs(measured - stated) <= 0.02
    share = stated / 100
    return abs(measured - stated) <= 300 * math.sqrt(share * (1 - share) / count)


def _test_images(dataset: str) -> "tuple[Tensor, Tensor] | str":
    """The dataset's clean images and labels on this machine, or why there are none."""
    import torch

    if dataset == "fashion_mnist":
        from trimtab.streams.embedded import embedded_images

        images, labels = embedded_images()
    elif dataset == "cifar10":
        from trimtab.streams.cifar10 import cifar10

        try:
            images, labels = cifar10("test")
        except FileNotFoundError as error:
            return str(error)
    else:
        return f"there is no {dataset} on this machine"
    return torch.from_numpy(images), torch.from_numpy(labels)
