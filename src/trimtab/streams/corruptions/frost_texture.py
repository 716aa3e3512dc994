"""Frost to lay over images: procedural textures of this project, or a folder of photographs.

The published benchmark uses six photographs of frost. They are not part of Trimtab: by default
frost is drawn (clouds of rime under feathered ice needles), alike in brightness, tint and
roughness but no photograph. Whoever holds photographs passes their folder.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from trimtab.streams.corruptions.convolve import smooth
from trimtab.streams.corruptions.plasma import plasma
from trimtab.streams.draws import Draws
from trimtab.streams.image_files import image_paths, read_image

Textures = Sequence[Tensor]

_SIDE = 512  # pixels of a texture for images of 224 px; larger and smaller ones in proportion
_COUNT = 5
_NEEDLES = 420
_TINT = (0.87, 1.02, 1.11)
_BRIGHTNESS = ((95, 34), (120, 40), (140, 30), (160, 28), (185, 24))  # mean and sd, by texture


@lru_cache(maxsize=8)
def procedural_textures(height: int, width: int) -> Textures:
    """Five drawn frost textures with room for crops of ``height`` x ``width``."""
    side = math.ceil(max(height, width) * _SIDE / 224)
    planes = _drawn_textures()
    if side != _SIDE:
        planes = functional.interpolate(planes, size=(side, side), mode="bilinear", antialias=True)
    return tuple(planes.clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).contiguous())


@lru_cache(maxsize=4)
def photographs(folder: Path, height: int, width: int) -> Textures:
    """Every picture in ``folder``, enlarged where it has no room for ``height`` x ``width``."""
    paths = image_paths(folder)
    if not paths:
        raise FileNotFoundError(
            f"expected photographs of frost (PNG or JPEG) in {folder}, got none"
        )
    return tuple(_with_room(read_image(path), height, width) for path in paths)


def _with_room(picture: npt.NDArray[np.uint8], height: int, width: int) -> Tensor:
    pixels = torch.from_numpy(picture.copy())
    factor = max(height / pixels.shape[0], width / pixels.shape[1])
    if factor <= 1:
        return pixels
    size = [math.ceil(side * factor) for side in pixels.shape[:2]]
    planes = pixels.permute(2, 0, 1)[None].float()
    larger = functional.interpolate(planes, size=size, mode="bilinear", align_corners=False)
    return larger[0].permute(1, 2, 0).to(torch.uint8)


@lru_cache(maxsize=1)
def _drawn_textures() -> Tensor:
    """Textures x 3 x side x side in 0..255."""
    draws = Draws(0, "frost texture", range(_COUNT))
    rime = plasma(draws, _SIDE, _SIDE, decay=1.9).sub_(0.5)
    ice = torch.stack([_needles(draws, number) for number in range(_COUNT)])
    grain = draws.normal(_SIDE, _SIDE, sd=0.09)
    field = smooth((rime * 1.3 + ice + grain).unsqueeze(3), 0.5).squeeze(3)
    field = (field - field.mean(dim=(1, 2), keepdim=True)) / field.std(dim=(1, 2), keepdim=True)
    mean, sd = (torch.tensor(values).reshape(-1, 1, 1) for values in zip(*_BRIGHTNESS, strict=True))
    grey = field.mul_(sd).add_(mean)
    return grey.unsqueeze(1) * torch.tensor(_TINT).reshape(1, 3, 1, 1)


def _needles(draws: Draws, texture: int) -> Tensor:
    """Feathered needles of one texture, side x side, from 0 to 1."""
    where, length, angle, bend = (draws.uniform(*shape)[texture] for shape in _SHAPES)
    points = torch.cat(
        [
            _feather(place * _SIDE, 15 + 95 * float(long) ** 3, float(turn), float(curve) - 0.5)
            for place, long, turn, curve in zip(where, length, angle, bend, strict=True)
        ]
    )
    inside = points.round().long().remainder(_SIDE)
    hits = torch.bincount(inside[:, 1] * _SIDE + inside[:, 0], minlength=_SIDE**2)
    thick = smooth(hits.reshape(1, _SIDE, _SIDE, 1).float(), 0.7)[0, :, :, 0]
    return thick / (thick + 0.6)


_SHAPES = ((_NEEDLES, 2), (_NEEDLES,), (_NEEDLES,), (_NEEDLES,))


def _feather(start: Tensor, length: float, turn: float, curve: float) -> Tensor:
    """Points (x, y) of a bent needle and of its barbs, which stand off at 60 degrees."""
    steps = torch.arange(0, length, 0.7)
    heading = 2 * math.pi * turn + curve * steps / length
    stem = start + torch.stack([heading.cos(), heading.sin()], dim=1).mul(0.7).cumsum(0)
    barbs = [stem]
    for side in (-math.pi / 3, math.pi / 3):
        roots, course = stem[::6], heading[::6] + side
        reach = torch.linspace(0.28 * length, 0, len(roots))
        along = torch.arange(0, 0.28 * length, 0.8)
        direction = torch.stack([course.cos(), course.sin()], dim=1)
        barb = roots[:, None] + direction[:, None] * along[None, :, None]
        barbs.append(barb[along[None, :] < reach[:, None]])
    return torch.cat(barbs)
