"""Trains one of the shipped networks and prints its clean accuracy.

``--data`` is a safetensors file with ``train_images``, ``train_labels``, ``test_images`` and
``test_labels`` (uint8, images as height x width x 3): what ``trimtab data`` writes.
"""

import argparse
from pathlib import Path

import torch
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from safetensors.torch import load_file, save
from torch import Tensor, nn

from trimtab.core.files import write_whole
from trimtab.models.accuracy import accuracy_of
from trimtab.models.entry import ModelEntry
from trimtab.models.loading import weight_path
from trimtab.models.normalization import Normalized
from trimtab.models.table import MODELS
from trimtab.models.train.batches import TrainingSet, batches_per_epoch
from trimtab.models.train.loop import train
from trimtab.models.train.recipe import RECIPES, Recipe


def main() -> None:
    """Train, measure on the test images, write ``NAME.safetensors``."""
    args = _arguments()
    torch.set_num_threads(args.threads)
    recipe = RECIPES[args.name]
    data = load_file(args.data)
    torch.manual_seed(recipe.seed)
    model = _untrained(MODELS[args.name])
    if recipe.start is not None:
        start_from(model.model, load_file(weight_path(MODELS[recipe.start])))
    _train_with_progress(model, data, recipe, args)
    clean = accuracy_of(model, data["test_images"], data["test_labels"])
    print(f"{args.name}: {100 * clean:.2f} % of {len(data['test_labels'])} test images")
    args.out.mkdir(parents=True, exist_ok=True)
    weights = {name: value.contiguous() for name, value in model.model.state_dict().items()}
    write_whole(args.out / f"{args.name}.safetensors", save(weights))


def start_from(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Take over the tensors that ``model`` has too: a batch norm's scale and shift, not its
    statistics, where ``model`` has other norm layers."""
    model.load_state_dict({name: tensors[name] for name in model.state_dict()})


def _untrained(entry: ModelEntry) -> Normalized:
    mean, std = entry.preprocessing.mean, entry.preprocessing.std
    assert mean is not None
    assert std is not None
    return Normalized(entry.make(entry.num_classes), mean, std)


def _train_with_progress(
    model: nn.Module, data: dict[str, Tensor], recipe: Recipe, args: argparse.Namespace
) -> None:
    teacher = load_file(args.teacher)["logits"] if args.teacher else None
    part = TrainingSet(
        data["train_images"][: -recipe.held_out], data["train_labels"][: -recipe.held_out], teacher
    )
    held_out = data["train_images"][-recipe.held_out :], data["train_labels"][-recipe.held_out :]
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    with Progress(*columns) as progress:
        total = recipe.epochs * batches_per_epoch(part, recipe)
        task = progress.add_task(args.name, total=total)

        def report(epoch: int, loss: float) -> None:
            share = accuracy_of(model, *held_out)
            progress.update(task, completed=epoch * batches_per_epoch(part, recipe))
            progress.print(
                f"epoch {epoch}/{recipe.epochs}  loss {loss:.3f}  held out {100 * share:.2f} %"
            )

        train(
            model,
            part,
            recipe,
            args.checkpoints / f"{args.name}.pt",
            compiled=args.compile,
            advance=lambda: progress.advance(task),
            report=report,
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trimtab.models.train", description=__doc__)
    parser.add_argument("name", choices=sorted(RECIPES))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, help="a safetensors file with a teacher's logits")
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    parser.add_argument("--out", type=Path, default=Path("weights"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--compile", action="store_true", help="needs a C++ compiler; faster")
    return parser.parse_args()


if __name__ == "__main__":
    main()
