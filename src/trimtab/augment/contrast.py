"""Weak and strong views for contrastive learning, drawn for each image on its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from trimtab.augment.colors import brightness, contrast, grey, saturation, shift_hue
from trimtab.augment.draw_first import DrawFirst

Range = tuple[float, float]
Change = Callable[[Tensor, Tensor], Tensor]

JITTERS: tuple[Change, ...] = (brightness, contrast, saturation, shift_hue)


@dataclass(frozen=True)
class WeakView(DrawFirst[Tensor]):
    """Each image flipped or not."""

    flip_probability: float = 0.5

    def draw(self, generator: torch.Generator, shape: torch.Size) -> Tensor:
        """Which images are mirrored, booleans of shape (batch,)."""
        check_images(shape)
        return chance(self.flip_probability, shape[0], generator)

    def apply(self, images: Tensor, draw: Tensor) -> Tensor:
        return flipped(images, draw)


class StrongDraw(NamedTuple):
    """What is drawn for each image: its changes of colour, its blur, whether it is mirrored.

    ``colors`` are the order (batch, 4) and amounts (batch, 4) of changes, whether they are made and
    whether the image becomes grey; None for images that are not of three colours.
    """

    colors: tuple[Tensor, Tensor, Tensor, Tensor] | None
    deviations: Tensor
    blurred: Tensor
    mirrored: Tensor


@dataclass(frozen=True)
class StrongView(DrawFirst[StrongDraw]):
    """Each image jittered in colour, made grey, blurred and flipped, or not: MoCo v2's recipe.

    Without its random crop, which is how AdaContrast (arXiv:2204.10377) treats corrupted images.
    Colours are left alone where there are not three channels.

    Args:
        jitter: Largest change of brightness, contrast and saturation either way.
        hue: Largest change of hue either way, as a share of the colour circle.
        blur: Standard deviation of the Gaussian blur, in pixels.
    """

    jitter: float = 0.4
    hue: float = 0.1
    blur: Range = (0.1, 2.0)
    jitter_probability: float = 0.8
    grey_probability: float = 0.2
    blur_probability: float = 0.5
    flip_probability: float = 0.5

    def draw(self, generator: torch.Generator, shape: torch.Size) -> StrongDraw:
        check_images(shape)
        count = shape[0]
        colors = self._draw_colors(generator, count) if shape[1] == 3 else None
        low, high = self.blur
        deviations = low + (high - low) * torch.rand(count, generator=generator)
        blurred = chance(self.blur_probability, count, generator)
        mirrored = chance(self.flip_probability, count, generator)
        return StrongDraw(colors, deviations, blurred, mirrored)

    def _draw_colors(
        self, generator: torch.Generator, count: int
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        orders = torch.rand(count, len(JITTERS), generator=generator).argsort(1)
        spans = torch.tensor([self.jitter] * 3 + [self.hue])
        middles = torch.tensor([1.0, 1.0, 1.0, 0.0])
        amounts = middles + spans * (2 * torch.rand(count, len(JITTERS), generator=generator) - 1)
        jittered = chance(self.jitter_probability, count, generator)
        return orders, amounts, jittered, chance(self.grey_probability, count, generator)

    def apply(self, images: Tensor, draw: StrongDraw) -> Tensor:
        views = images.float().clamp(0, 1)
        if draw.colors is not None:
            views = colored(views, *draw.colors)
        chosen = draw.blurred.to(views.device)
        views = changed(views, chosen, blur_each, draw.deviations.to(views))
        return flipped(views.clamp(0, 1).to(images.dtype), draw.mirrored)


def colored(
    images: Tensor, orders: Tensor, amounts: Tensor, jittered: Tensor, greyed: Tensor
) -> Tensor:
    """Images with their colours jittered in their order, or made grey."""
    orders, amounts = orders.to(images.device), amounts.to(images)
    for place in range(len(JITTERS)):
        for index, change in enumerate(JITTERS):
            amount = amounts[:, index].view(-1, 1, 1, 1)
            chosen = jittered.to(images.device) & (orders[:, place] == index)
            images = changed(images, chosen, change, amount)
    chosen = greyed.to(images.device).view(-1, 1, 1, 1)
    return torch.where(chosen, grey(images).expand_as(images), images)


def flipped(images: Tensor, chosen: Tensor) -> Tensor:
    """The images with the chosen ones mirrored."""
    return torch.where(chosen.to(images.device).view(-1, 1, 1, 1), images.flip(-1), images)


def check_images(shape: torch.Size) -> None:
    """Refuse what is no batch of images."""
    if len(shape) != 4:
        raise ValueError(
            "these views take images of shape (batch, channels, height, width), got "
            f"{tuple(shape)}; pass weak= and strong= with some of your own"
        )


def chance(probability: float, count: int, generator: torch.Generator) -> Tensor:
    """For each image whether something happens, shape (count,)."""
    return torch.rand(count, generator=generator) < probability


def changed(images: Tensor, chosen: Tensor, change: Change, amounts: Tensor) -> Tensor:
    """The images with the chosen ones changed, each by its own amount."""
    if not bool(chosen.any()):
        return images
    result = images.clone()
    result[chosen] = change(images[chosen], amounts[chosen])
    return result


def blur_each(images: Tensor, deviations: Tensor) -> Tensor:
    """Gaussian blur of each image by its own deviation in pixels; edges are repeated outwards."""
    radius = max(1, int(3 * float(deviations.max()) + 0.5))
    offsets = torch.arange(-radius, radius + 1, device=images.device)
    lines = torch.exp(-0.5 * (offsets / deviations[:, None]).square())
    lines = (lines / lines.sum(1, keepdim=True)).repeat_interleave(images.shape[1], 0)
    # all channels of all images side by side, each with a kernel of its own
    planes = pad(images, [radius] * 4, mode="replicate").flatten(0, 1)[None]
    down, across = lines[:, None, :, None], lines[:, None, None, :]
    blurred = conv2d(conv2d(planes, down, groups=len(lines)), across, groups=len(lines))
    return blurred.view_as(images)
