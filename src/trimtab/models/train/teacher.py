"""Writes a teacher's logits for the training images, as they are and mirrored.

``python -m trimtab.models.train.teacher cifar_resnet56_projection --weights FILE --data FILE``
"""

import argparse
from pathlib import Path

import torch
from rich.progress import track
from safetensors.torch import load_file, save
from torch import Tensor, nn

from trimtab.core.files import write_whole
from trimtab.models import build


@torch.no_grad()
def teach(model: nn.Module, images: Tensor, *, batch_size: int = 250) -> Tensor:
    """Logits (2, count, classes) for images (count, height, width, 3), uint8."""
    views = []
    for mirrored in (False, True):
        parts = []
        for pixels in track(images.split(batch_size), f"mirrored: {mirrored}"):
            inputs = pixels.permute(0, 3, 1, 2).float() / 255
            parts.append(model(inputs.flip(3) if mirrored else inputs))
        views.append(torch.cat(parts))
    return torch.stack(views)


def main() -> None:
    """Load the teacher, predict, write the file."""
    parser = argparse.ArgumentParser(prog="python -m trimtab.models.train.teacher")
    parser.add_argument("name")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("teacher.safetensors"))
    args = parser.parse_args()
    model = build(args.name, weights=args.weights)
    logits = teach(model, load_file(args.data)["train_images"])
    write_whole(args.out, save({"logits": logits.half()}))


if __name__ == "__main__":
    main()
