"""Mixed chains of simple changes (AugMix, Hendrycks et al., ICLR 2020, arXiv:1912.02781)."""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample

from trimtab.augment.colors import autocontrast, equalize, posterize, solarize
from trimtab.augment.draw_first import DrawFirst
from trimtab.image_size import is_small

PIXEL_CHANGES: tuple[Callable[[Tensor, Tensor], Tensor], ...] = (
    lambda images, level: autocontrast(images),
    lambda images, level: equalize(images),
    posterize,
    solarize,
)

WARPS = 5
"""Rotation, shear along x and y, shift along x and y: all of them one warp."""


@dataclass(frozen=True)
class AugMix(DrawFirst["MixDraw"]):
    """A view of each image: shifted or cropped, then mixed with chains of changes of itself.

    Images are (batch, channels, height, width) in [0, 1]; each gets draws of its own.

    Args:
        chains: How many chains are mixed, with weights from a flat Dirichlet distribution.
        longest: Changes in the longest chain; lengths are drawn evenly from 1 on.
        severity: Upper end of each change's level, 10 being the strongest.
        shift: Largest shift of small images, in pixels; never more than a quarter of a side.
        smallest_crop: Smallest share of a large image's area that a crop shows.
    """

    chains: int = 3
    longest: int = 3
    severity: float = 1.0
    shift: int = 4
    smallest_crop: float = 0.08

    def __post_init__(self) -> None:
        for name in ("chains", "longest"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def draw(self, generator: torch.Generator, shape: torch.Size) -> "MixDraw":
        if len(shape) != 4:
            raise ValueError(
                "AugMix takes images of shape (batch, channels, height, width), got "
                f"{tuple(shape)}; pass augment= with one of your own"
            )
        # Small images are shifted before mixing, larger ones are cropped.
        move = self._shifts if is_small(tuple(shape[1:])) else self._crops
        theta = move(shape, generator)
        steps = self._steps(shape, generator)
        weights = -torch.rand(shape[0], self.chains, generator=generator).clamp_min(1e-12).log()
        weights = weights / weights.sum(1, keepdim=True)
        share = torch.rand(shape[0], 1, 1, 1, generator=generator)
        return MixDraw(theta, steps, weights, share)

    def apply(self, images: Tensor, draw: "MixDraw") -> Tensor:
        views = warp_each(images.float().clamp(0, 1), draw.theta)
        ends = views.repeat_interleave(self.chains, 0)
        for step in draw.steps:
            ends = _changed(ends, step)
        weights = draw.weights.to(views)
        mixed = (ends.unflatten(0, (-1, self.chains)) * weights[..., None, None, None]).sum(1)
        return torch.lerp(views, mixed, draw.share.to(views)).to(images.dtype)

    def _shifts(self, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """Whole pixels either way, and a flip."""
        count = shape[0]
        theta = identity(count)
        theta[:, 0, 0] = signs(count, generator)
        for axis, side in enumerate((shape[-1], shape[-2])):
            most = min(self.shift, side // 4)
            pixels = torch.randint(-most, most + 1, (count,), generator=generator)
            theta[:, axis, 2] = 2 * pixels / side
        return theta

    def _crops(self, shape: torch.Size, generator: torch.Generator) -> Tensor:
        """A box of random area, shape and place, shown in full size, and a flip."""
        count = shape[0]
        height, width = shape[-2:]
        area = between(self.smallest_crop, 1.0, count, generator)
        ratio = (4 / 3) ** between(-1.0, 1.0, count, generator) * height / width
        sides = torch.stack([(area * ratio).sqrt(), (area / ratio).sqrt()]).clamp(max=1)
        places = (1 - sides) * (2 * torch.rand(2, count, generator=generator) - 1)
        theta = identity(count)
        theta[:, 0, 0] = sides[0] * signs(count, generator)
        theta[:, 1, 1] = sides[1]
        theta[:, :, 2] = places.T
        return theta

    def _steps(self, shape: torch.Size, generator: torch.Generator) -> list["ChainStep"]:
        """The changes of all chains of all images; shorter chains change nothing at their end."""
        count = shape[0] * self.chains
        lengths = torch.randint(1, self.longest + 1, (count,), generator=generator)
        steps = []
        for place in range(self.longest):
            change = torch.randint(len(PIXEL_CHANGES) + WARPS, (count,), generator=generator)
            level = between(min(0.1, self.severity), self.severity, count, generator) / 10
            kind, amount = change - len(PIXEL_CHANGES), level * signs(count, generator)
            theta = warps(kind, amount, shape[-2:])
            change[place >= lengths] = -1
            steps.append(ChainStep(change, level, theta))
        return steps


class ChainStep(NamedTuple):
    """One change in each chain: its number (negative for none), its level, its warp."""

    change: Tensor
    level: Tensor
    theta: Tensor


class MixDraw(NamedTuple):
    """What is drawn: each image's shift or crop, the steps of its chains, how all are mixed."""

    theta: Tensor
    steps: list[ChainStep]
    weights: Tensor
    share: Tensor


def _changed(images: Tensor, step: ChainStep) -> Tensor:
    """Each image after the change of its number; negative numbers leave it as it is."""
    change, level = step.change.to(images.device), step.level.to(images)
    result = images.clone()
    for index, pixel_change in enumerate(PIXEL_CHANGES):
        chosen = change == index
        result[chosen] = pixel_change(images[chosen], level[chosen])
    warped = change >= len(PIXEL_CHANGES)
    result[warped] = warp_each(images[warped], step.theta[warped.cpu()])
    return result


def between(low: float, high: float, count: int, generator: torch.Generator) -> Tensor:
    """Numbers drawn evenly from a range, shape (count,)."""
    return low + (high - low) * torch.rand(count, generator=generator)


def signs(count: int, generator: torch.Generator) -> Tensor:
    """Plus or minus one, shape (count,)."""
    return 2.0 * torch.randint(2, (count,), generator=generator) - 1


def identity(count: int) -> Tensor:
    """Warps that change nothing, shape (count, 2, 3)."""
    return torch.eye(2, 3).repeat(count, 1, 1)


def warps(kind: Tensor, amount: Tensor, sides: torch.Size) -> Tensor:
    """Turns, shears and shifts, shape (images, 2, 3); a full amount is 30 degrees, 0.3, a third.

    Args:
        kind: 0 turns, 1 and 2 shear along x and y, 3 and 4 shift along x and y.
        amount: Share of the full amount, with a sign; turns and shifts are whole degrees, pixels.
    """
    height, width = sides
    theta = identity(len(kind))
    angle = torch.where(kind == 0, (30 * amount).trunc() * pi / 180, 0.0)
    theta[:, 0, 0] = theta[:, 1, 1] = angle.cos()
    shear_x = torch.where(kind == 1, 0.3 * amount, 0.0)
    shear_y = torch.where(kind == 2, 0.3 * amount, 0.0)
    # coordinates run from -1 to 1 along both sides, whatever their lengths
    theta[:, 0, 1] = (angle.sin() + shear_x) * height / width
    theta[:, 1, 0] = (shear_y - angle.sin()) * width / height
    theta[:, 0, 2] = torch.where(kind == 3, (width / 3 * amount).trunc() * 2 / width, 0.0)
    theta[:, 1, 2] = torch.where(kind == 4, (height / 3 * amount).trunc() * 2 / height, 0.0)
    return theta


def warp_each(images: Tensor, theta: Tensor) -> Tensor:
    """Each image looked up where its own warp says; black outside."""
    if not len(images):
        return images
    grid = affine_grid(theta.to(images), list(images.shape), align_corners=False)
    return grid_sample(images, grid, padding_mode="zeros", align_corners=False)
