"""A contact sheet: every corruption at every severity of one image, as one PNG."""

from pathlib import Path

import numpy as np

from trimtab.core.files import written_whole
from trimtab.core.ranges import SEVERITIES
from trimtab.streams.corruptions import CORRUPTIONS, Corruptor
from trimtab.streams.data import Pixels
from trimtab.streams.image_files import require_pillow

_CELL = 96
_GAP = 4
_HEADER = 18
_NAMES_WIDTH = 128


def contact_sheet(
    image: Pixels,
    path: Path,
    *,
    names: tuple[str, ...] = tuple(CORRUPTIONS),
    seed: int = 0,
    corruptor: Corruptor | None = None,
) -> None:
    """Write rows of corruptions, columns clean and severities 1 to 5, cells of 96 pixels."""
    from PIL import Image, ImageDraw

    require_pillow()
    shown = tuple(max(1, round(side * _CELL / max(image.shape[:2]))) for side in image.shape[:2])
    height, width = (side + _GAP for side in shown)
    size = (_NAMES_WIDTH + (1 + len(SEVERITIES)) * width, _HEADER + len(names) * height)
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    for column, title in enumerate(("clean", *(f"severity {s}" for s in SEVERITIES))):
        draw.text((_NAMES_WIDTH + column * width, 3), title, fill="black")
    for row, name in enumerate(names):
        top = _HEADER + row * height
        draw.text((4, top + height // 2 - 8), name, fill="black")
        for column, picture in enumerate(_row(image, name, seed, corruptor or Corruptor())):
            cell = Image.fromarray(picture).resize((shown[1], shown[0]), Image.Resampling.BOX)
            sheet.paste(cell, (_NAMES_WIDTH + column * width, top))
    with written_whole(path) as part:
        sheet.save(part, format="PNG", optimize=True)


def _row(image: Pixels, name: str, seed: int, corruptor: Corruptor) -> list[Pixels]:
    batch = image[None]
    levels = [corruptor(batch, name, severity, seed=seed)[0].numpy() for severity in SEVERITIES]
    return [np.asarray(image), *levels]
