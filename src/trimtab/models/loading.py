"""From a name to a network: never another network, other weights or another normalisation."""

from importlib import resources
from os import PathLike
from pathlib import Path

import torch
from torch import nn

from trimtab.core.backbone import Backbone
from trimtab.models.entry import ModelEntry, Triple
from trimtab.models.external import TIMM, make_pretrained_timm
from trimtab.models.fitting import fit, take_normalization
from trimtab.models.local_weights import ENDINGS, file_hash, local_file, weights_folder
from trimtab.models.masks import MASKS, Masked
from trimtab.models.normalization import Normalized
from trimtab.models.table import describe
from trimtab.models.weight_file import read_tensors

RANDOM = "random"
"""Given as ``weights``: the network as it is before training."""

Normalization = tuple[Triple, Triple]


def load(
    name: str,
    *,
    weights: str | PathLike[str] | None = None,
    num_classes: int | None = None,
    normalization: Normalization | None = None,
) -> Backbone:
    """The frozen network called ``name``, for images in [0, 1].

    Args:
        name: A name of the table, ``timm/NAME`` or ``package.module:callable``; with
            ``@imagenet_r`` or ``@imagenet_d109`` behind it, only the classes of that dataset.
        weights: A local file, or ``"random"``; by default the weights that the table names.
        num_classes: Where the file's head is of another size than the table's.
        normalization: Mean and standard deviation of the inputs, where the file was trained
            with others than the table's.
    """
    model = build(name, weights=weights, num_classes=num_classes, normalization=normalization)
    known = describe(name).num_classes
    classes = known if "@" in name else num_classes or known
    return Backbone(model, classes or None, task=describe(name).task)


def build(
    name: str,
    *,
    weights: str | PathLike[str] | None = None,
    num_classes: int | None = None,
    normalization: Normalization | None = None,
) -> nn.Module:
    """The same network as a plain module, in evaluation mode; arguments as for ``load``."""
    describe(name)  # an unknown mask, or one that does not fit, is refused before any loading
    base, _, mask = name.partition("@")
    entry = describe(base)
    bare, stated = _with_weights(entry, weights, num_classes or entry.num_classes)
    model = _normalized(bare, entry, normalization, stated)
    return (Masked(model, MASKS[mask]) if mask else model).eval()


def weight_path(entry: ModelEntry) -> Path:
    """Where the entry's own weights are on this machine, or would be."""
    if entry.shipped:
        return Path(
            str(resources.files("trimtab.models") / "weights" / f"{entry.name}.safetensors")
        )
    if entry.url is None:
        found = local_file(entry)
        if found is None:
            raise ValueError(
                f"no weights of {entry.name} are shipped (they are from: {entry.origin}), and "
                f"{weights_folder()} has no {' or '.join(entry.name + e for e in ENDINGS)}; "
                'put the file there, give one with weights=, or weights="random"'
            )
        return found
    return Path(torch.hub.get_dir()) / "checkpoints" / entry.url.rsplit("/", 1)[1]


def _with_weights(
    entry: ModelEntry, weights: str | PathLike[str] | None, num_classes: int
) -> tuple[nn.Module, dict[str, tuple[float, ...]]]:
    """The bare network with its weights, and what the file says about normalisation."""
    if weights == RANDOM or (weights is None and entry.brings_weights):
        return entry.make(num_classes), {}
    if weights is None and entry.name.startswith(TIMM):
        if num_classes != entry.num_classes:
            raise ValueError(
                f"the weights of {entry.name} have {entry.num_classes} classes, not {num_classes}; "
                "give a file with weights="
            )
        return make_pretrained_timm(entry), {}
    path = _verified_own_weights(entry) if weights is None else Path(weights)
    tensors = read_tensors(path)
    stated = take_normalization(tensors)
    bare = entry.make(num_classes)
    fit(bare, tensors, path, renames=entry.renames, left_out=entry.left_out)
    return bare, stated


def _verified_own_weights(entry: ModelEntry) -> Path:
    path = weight_path(entry)
    if not path.exists() and entry.url is not None:
        _download(entry, path)
    if entry.is_users_own:
        return path
    found = file_hash(path)
    if entry.sha256 is None or not found.startswith(entry.sha256):
        raise ValueError(f"{path} is damaged: its SHA-256 is {found}, expected {entry.sha256}")
    return path


def _download(entry: ModelEntry, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Writes to a temporary file and renames it only if its hash is the expected one.
        torch.hub.download_url_to_file(str(entry.url), str(path), entry.sha256)
    except (OSError, RuntimeError) as error:
        raise OSError(
            f"the weights of {entry.name} were looked for at {path} and at {entry.url} and not "
            f"found ({error}); give a local file with weights="
        ) from error


def _normalized(
    bare: nn.Module,
    entry: ModelEntry,
    given: Normalization | None,
    stated: dict[str, tuple[float, ...]],
) -> nn.Module:
    """``bare`` behind the normalisation that was given, or else the table's."""
    mean, std = given or (entry.preprocessing.mean, entry.preprocessing.std)
    for kind, ours in (("mean", mean), ("std", std)):
        if kind in stated and (ours is None or list(stated[kind]) != [round(v, 6) for v in ours]):
            raise ValueError(
                f"the weight file says its inputs have {kind} {stated[kind]}, "
                f"{entry.name} has {ours}; state the right one with normalization=(mean, std)"
            )
    return bare if mean is None or std is None else Normalized(bare, mean, std)
