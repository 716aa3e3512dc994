"""Weak and strong views for contrastive learning, drawn for each image on its own."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from trimtab.colors import brightness, contrast, grey, saturation, shift_hue

Range = tuple[float, float]
Change = Callable[[Tensor, Tensor], Tensor]

JITTERS: tuple[Change, ...] = (brightness, contrast, saturation, shift_hue)


@dataclass(frozen=True)
class WeakView:
    """Each image flipped or not."""

    flip_probability: float = 0.5

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Copies of the images, some of them mirrored."""
        check_images(images)
        flipped = chance(self.flip_probability, images, generator)
        return torch.where(flipped.view(-1, 1, 1, 1), images.flip(-1), images)


@dataclass(frozen=True)
class StrongView:
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

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """Augmented copies of the images."""
        check_images(images)
        views = images.float().clamp(0, 1)
        if images.shape[1] == 3:
            views = self._color(views, generator)
        views = self._blur(views, generator).clamp(0, 1).to(images.dtype)
        return WeakView(self.flip_probability)(views, generator)

    def _color(self, images: Tensor, generator: torch.Generator) -> Tensor:
        count = len(images)
        orders = torch.rand(count, len(JITTERS), generator=generator).argsort(1)
        spans = torch.tensor([self.jitter] * 3 + [self.hue])
        middles = torch.tensor([1.0, 1.0, 1.0, 0.0])
        amounts = middles + spans * (2 * torch.rand(count, len(JITTERS), generator=generator) - 1)
        orders, amounts = orders.to(images.device), amounts.to(images)
        jittered = chance(self.jitter_probability, images, generator)
        for place in range(len(JITTERS)):
            for index, change in enumerate(JITTERS):
                amount = amounts[:, index].view(-1, 1, 1, 1)
                chosen = jittered & (orders[:, place] == index)
                images = changed(images, chosen, change, amount)
        greyed = chance(self.grey_probability, images, generator)
        return torch.where(greyed.view(-1, 1, 1, 1), grey(images).expand_as(images), images)

    def _blur(self, images: Tensor, generator: torch.Generator) -> Tensor:
        low, high = self.blur
        deviations = low + (high - low) * torch.rand(len(images), generator=generator)
        blurred = chance(self.blur_probability, images, generator)
        return changed(images, blurred, blur_each, deviations.to(images))


def check_images(images: Tensor) -> None:
    """Refuse what is no batch of images."""
    if images.dim() != 4:
        raise ValueError(
            "these views take images of shape (batch, channels, height, width), got "
            f"{tuple(images.shape)}; pass weak= and strong= with some of your own"
        )


def chance(probability: float, images: Tensor, generator: torch.Generator) -> Tensor:
    """For each image whether something happens, shape (batch,)."""
    drawn = torch.rand(len(images), generator=generator) < probability
    return drawn.to(images.device)


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
