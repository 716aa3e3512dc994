"""Data augmentation in plain torch: colour jitter and affine warps, drawn from a generator."""

import inspect
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import radians

import torch
from torch import Tensor
from torch.nn.functional import pad

from trimtab.augment.colors import COLOR_CHANGES, grey, shift_hue
from trimtab.augment.draw_first import DrawFirst
from trimtab.augment.normalization import present as normalization_in_force
from trimtab.augment.warping import Range, blur, grid_of, sampled, warp

__all__ = [
    "Augment",
    "ColorAffineBlurNoise",
    "ColorAffineFlip",
    "augmented",
    "blur",
    "grey",
    "mirrored",
    "shift_hue",
    "uniform",
    "warp",
]

Augment = Callable[..., Tensor]
"""Maps a batch to an augmented batch of the same shape. One that takes a ``generator`` is given
the stream's, so that the stream's seed decides it."""

COLORS = ("brightness", "contrast", "saturation", "hue", "gamma")
"""What changes of colour there are, by the number that is drawn."""

COLORS_OF_GREY = ("brightness", "contrast", "gamma")
"""Those that images have that are not of three colours."""

VALUES_AT_ONCE = 2**20
"""Pixel values that are altered together on a CPU."""

BLUR_RADIUS = 2
"""Pixels that the light blur of teacher views reaches either way: a kernel of 5 x 5."""


@dataclass(frozen=True)
class ColorAffineFlip(DrawFirst["AffineDraw"]):
    """Colour jitter, a reflecting affine warp and a flip: ROID's augmentation (arXiv:2306.00650).

    One draw serves the whole batch. Images are (batch, channels, height, width) in [0, 1];
    saturation and hue are left alone where there are not three channels.

    Args:
        rotation: Largest angle either way, in degrees.
        translation: Largest shift along each axis, as a share of that side.
    """

    brightness: Range = (0.6, 1.4)
    contrast: Range = (0.7, 1.3)
    saturation: Range = (0.5, 1.5)
    hue: Range = (-0.06, 0.06)
    gamma: Range = (0.7, 1.3)
    rotation: float = 15.0
    translation: float = 1 / 8
    scale: Range = (0.9, 1.1)
    flip_probability: float = 0.5

    @property
    def draws_for_any_number(self) -> bool:
        return type(self) is ColorAffineFlip  # others may draw for each image

    def draw(self, generator: torch.Generator, shape: torch.Size) -> "AffineDraw":
        """Colours in their order, then the warp."""
        if len(shape) != 4:
            raise ValueError(
                "this augmentation takes images of shape (batch, channels, height, width), got "
                f"{tuple(shape)}; pass augment= with one of your own"
            )
        names = [COLORS[index] for index in torch.randperm(5, generator=generator).tolist()]
        ranges = [getattr(self, name) for name in names]
        right, down = (self.translation * side for side in (shape[-1], shape[-2]))
        turn = self.rotation
        ranges += [(-turn, turn), self.scale, (-right, right), (-down, down), (0.0, 1.0)]
        *amounts, angle, scale, right, down, chance = uniforms(ranges, generator)
        colors = [(name, _single(amount)) for name, amount in zip(names, amounts, strict=True)]
        shift = float(round(right)), float(round(down))
        mirror = -1.0 if chance < self.flip_probability else 1.0
        return AffineDraw(colors, radians(angle), scale, shift, mirror)

    def apply(self, images: Tensor, draw: "AffineDraw") -> Tensor:
        parts = []
        for part in images.split(self._at_once(images)):
            warped = self._warped(_colored(part.float().clamp(0, 1), draw), draw)
            parts.append(warped.clamp(0, 1).to(images.dtype))
        return torch.cat(parts)

    def apply_each(self, images: Sequence[Tensor], draws: Sequence["AffineDraw"]) -> list[Tensor]:
        """What ``apply`` makes of each batch, in few calls for all of them."""
        if type(self) is not ColorAffineFlip or any(draw.stands_still for draw in draws):
            return super().apply_each(images, draws)
        sizes = [len(batch) for batch in images]
        altered = torch.cat(list(images)).float().clamp(0, 1)
        for place in range(len(COLORS)):
            altered = _colored_each(altered, [draw.colors[place] for draw in draws], sizes)
        grids = [grid_of(altered, d.angle, d.scale, d.shift, d.mirror) for d in draws]
        each = [grid.expand(size, -1, -1, -1) for grid, size in zip(grids, sizes, strict=True)]
        warped = sampled(altered, torch.cat(each), "reflection").clamp(0, 1)
        return list(warped.to(images[0].dtype).split(sizes))

    def _at_once(self, images: Tensor) -> int:
        """How many images to alter at a time: on a CPU, what its cache and memory like."""
        if images.device.type != "cpu":
            return len(images)
        return max(1, VALUES_AT_ONCE // images[0].numel())

    def _warped(self, images: Tensor, draw: "AffineDraw") -> Tensor:
        """Rotated, shifted, scaled and flipped in one sampling."""
        if draw.stands_still:
            return images
        return warp(images, draw.angle, draw.scale, draw.shift, draw.mirror)


@dataclass(frozen=True)
class AffineDraw:
    """What an augmentation of a whole batch has drawn.

    Args:
        colors: Changes of colour and their amounts, in their order.
        angle: In radians.
        shift: In pixels to the right and down.
        mirror: -1 mirrors, 1 does not.
        blur: Standard deviation in pixels; None does not blur.
        noise: Of the images' shape, standard normal; None adds none.
    """

    colors: list[tuple[str, float]]
    angle: float
    scale: float
    shift: Range
    mirror: float
    blur: float | None = None
    noise: Tensor | None = None

    @property
    def stands_still(self) -> bool:
        """Whether pixels stay where they are."""
        return (self.angle, self.scale, self.shift, self.mirror) == (0.0, 1.0, (0.0, 0.0), 1.0)


def _colored(images: Tensor, draw: AffineDraw) -> Tensor:
    known = COLORS if images.shape[1] == 3 else COLORS_OF_GREY
    for name, amount in draw.colors:
        if name in known:
            images = COLOR_CHANGES[name](images, amount)
    return images


def _colored_each(
    images: Tensor, colors: Sequence[tuple[str, float]], sizes: Sequence[int]
) -> Tensor:
    """Each batch's images after a change of colour of its own."""
    altered = torch.empty_like(images)
    starts = [0, *accumulate(sizes)]
    left = set(range(len(colors)))
    for name in COLORS if images.shape[1] == 3 else COLORS_OF_GREY:
        chosen = [place for place, (other, _) in enumerate(colors) if other == name]
        left.difference_update(chosen)
        if name == "gamma":  # powers are not the same to the bit wherever in a tensor they are
            for place in chosen:
                own = slice(starts[place], starts[place + 1])
                altered[own] = COLOR_CHANGES[name](images[own], colors[place][1])
        elif chosen:
            rows = [row for place in chosen for row in range(starts[place], starts[place + 1])]
            each = [colors[place][1] for place in chosen for _ in range(sizes[place])]
            picked = torch.tensor(rows, device=images.device)
            amounts = images.new_tensor(each).view(-1, 1, 1, 1)
            altered[picked] = COLOR_CHANGES[name](images[picked], amounts)
    for place in left:  # a change of colour that images of this kind do not have
        own = slice(starts[place], starts[place + 1])
        altered[own] = images[own]
    return altered


@dataclass(frozen=True)
class ColorAffineBlurNoise(ColorAffineFlip):
    """The same over repeated edges, then a light blur and noise: CoTTA's (arXiv:2203.13591).

    RoTTA, RMT and SANTA use it too. One draw serves the whole batch; only noise differs between
    pixels.

    Args:
        blur: Standard deviation of the 5 x 5 Gaussian blur, in pixels.
        noise: Standard deviation of the noise that is added.
    """

    blur: Range = (0.001, 0.5)
    noise: float = 0.005

    def draw(self, generator: torch.Generator, shape: torch.Size) -> AffineDraw:
        """The same, then blur and noise."""
        plain = super().draw(generator, shape)
        deviation = uniform(self.blur, generator)
        return replace(plain, blur=deviation, noise=torch.randn(shape, generator=generator))

    def _at_once(self, images: Tensor) -> int:
        return len(images)  # the noise is one draw for all pixels of the batch

    def _warped(self, images: Tensor, draw: AffineDraw) -> Tensor:
        if draw.blur is None or draw.noise is None:
            raise ValueError("this augmentation needs a draw of its own, with blur and noise")
        # the blur takes its margin from the warped surroundings, so it eats no edge
        if draw.stands_still:
            warped = pad(images, [BLUR_RADIUS] * 4, mode="replicate")
        else:
            place = (draw.angle, draw.scale, draw.shift, draw.mirror)
            warped = warp(images, *place, "border", BLUR_RADIUS)
        blurred = blur(warped, draw.blur, BLUR_RADIUS)
        return blurred + self.noise * draw.noise.to(blurred)


def augmented(augment: Augment, inputs: Tensor, generator: torch.Generator) -> Tensor:
    """What an augmentation makes of a batch; one that takes a generator gets this one.

    It sees pixels in [0, 1] where the stream's normalisation is known, and inputs as they are
    where it is not; of these a foreign one sees a copy, as it may write into what it is given.
    """
    draws = {"generator": generator} if _takes_generator(augment) else {}
    normalization = normalization_in_force()
    if normalization is None:
        given = inputs if isinstance(augment, DrawFirst) else inputs.clone()
        return _checked(augment(given, **draws), inputs)
    pixels = normalization.to_pixels(inputs)
    altered = _checked(augment(pixels, **draws), pixels)
    return normalization.from_pixels(altered).to(inputs.dtype)


def _checked(altered: Tensor, inputs: Tensor) -> Tensor:
    """Refuse what would be compared with other samples, or with none, by way of broadcasting."""
    expected, got = _described(inputs), _described(altered)
    if got != expected:
        raise ValueError(f"an augmentation must return what it is given, {expected}, got {got}")
    return altered


def _described(batch: object) -> str:
    """What an augmentation keeps: all but the size of images."""
    if not isinstance(batch, Tensor):
        return type(batch).__name__
    channels = f" with {batch.shape[1]} channels" if batch.dim() == 4 else ""
    return f"{len(batch)} samples{channels} of {batch.dtype}"


def _takes_generator(augment: Augment) -> bool:
    if isinstance(augment, DrawFirst):
        return True
    return "generator" in inspect.signature(augment).parameters


def mirrored(images: Tensor) -> Tensor:
    """Images with left and right exchanged."""
    if images.dim() != 4:
        raise ValueError(
            "images must have the shape (batch, channels, height, width) to be mirrored, got "
            f"{tuple(images.shape)}; pass an augmentation of your own"
        )
    return images.flip(-1)


def _single(number: float) -> float:
    """The nearest number of single precision, which images are altered in."""
    (single,) = struct.unpack("f", struct.pack("f", number))
    return float(single)


def uniform(between: Range, generator: torch.Generator) -> float:
    """A number drawn evenly from a range."""
    return uniforms([between], generator)[0]


def uniforms(ranges: Sequence[Range], generator: torch.Generator) -> list[float]:
    """A number drawn evenly from each range, as if one after the other."""
    shares = torch.rand(len(ranges), generator=generator, dtype=torch.float64).tolist()
    return [low + (high - low) * share for (low, high), share in zip(ranges, shares, strict=True)]
