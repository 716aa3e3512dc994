"""Weather: snow, frost, fog and spatter."""

import math

import torch
from torch import Tensor

from trimtab.streams.corruptions.blur import zoom
from trimtab.streams.corruptions.convolve import blur_along_lines, smooth
from trimtab.streams.corruptions.frost_texture import Textures, procedural_textures
from trimtab.streams.corruptions.pixels import to_bytes
from trimtab.streams.corruptions.plasma import plasma
from trimtab.streams.draws import Draws

SNOW_DEGREES = (-135.0, -45.0)
_GREY = (0.299, 0.587, 0.114)  # Rec. 601 luma


def fog(images: Tensor, draws: Draws, strength: float, decay: float) -> Tensor:
    """Clouds added, then all darkened so that the brightest value stays in range."""
    brightest = images.amax(dim=(1, 2, 3), keepdim=True).float() / 255
    clouds = plasma(draws, images.shape[1], images.shape[2], decay).mul(255 * strength)
    share = (brightest / (brightest + strength)).squeeze(3)
    foggy = [to_bytes((clouds + channel).mul_(share)) for channel in images.unbind(3)]
    return torch.stack(foggy, dim=3)


def frost(
    images: Tensor,
    draws: Draws,
    image_share: float,
    frost_share: float,
    textures: Textures | None = None,
) -> Tensor:
    """The image under a random crop of a frost texture.

    ``textures`` are uint8 pictures (height x width x 3); without any, the procedural ones.
    """
    height, width = images.shape[1:3]
    covers = procedural_textures(height, width) if textures is None else textures
    which = draws.integers(0, len(covers), 1)[:, 0]
    corners = draws.uniform(2)
    crops = [
        _crop(covers[number], corner, height, width)
        for number, corner in zip(which, corners, strict=True)
    ]
    return to_bytes(torch.stack(crops).mul(frost_share).add_(images.mul(image_share)))


def snow(
    images: Tensor,
    draws: Draws,
    mean: float,
    sd: float,
    factor: float,
    threshold: float,
    radius: float,
    sigma: float,
    mix: float,
) -> Tensor:
    """Falling flakes over an image that turns whiter."""
    height, width = images.shape[1:3]
    noise = draws.normal(1, height, width, mean=mean, sd=sd)
    flakes = zoom(noise, factor)
    flakes = torch.where(flakes < threshold, 0.0, flakes).permute(0, 2, 3, 1)
    low, high = (math.radians(angle) for angle in SNOW_DEGREES)
    angles = draws.uniform(low=low, high=high)
    layer = blur_along_lines(to_bytes(flakes * 255), int(radius), sigma, angles).floor_()
    layer = layer.squeeze(3)
    flipped, white = layer.flip(1, 2), _grey(images).mul_(1.5).add_(127.5)
    whiter = [torch.maximum(channel, white).mul_(1 - mix) for channel in images.unbind(3)]
    snowy = [
        to_bytes(channel.add_(image, alpha=mix).add_(layer).add_(flipped))
        for channel, image in zip(whiter, images.unbind(3), strict=True)
    ]
    return torch.stack(snowy, dim=3)


def spatter(
    images: Tensor,
    draws: Draws,
    mean: float,
    sd: float,
    sigma: float,
    threshold: float,
    strength: float,
    mud: float,
) -> Tensor:
    """Drops of water or splashes of mud on the lens.

    The drops are drawn by a construction of this project: the published one leans on an edge
    detector whose steps depend on each other. Cover, tint and strength are the published ones.
    """
    height, width = images.shape[1:3]
    liquid = smooth(draws.normal(height, width, 1, mean=mean, sd=sd), sigma)
    liquid = torch.where(liquid < threshold, 0.0, liquid)
    return _mud(images, liquid, threshold, strength) if mud else _water(images, liquid, strength)


def _mud(images: Tensor, liquid: Tensor, threshold: float, strength: float) -> Tensor:
    cover = smooth((liquid > threshold).float(), strength)
    cover = torch.where(cover < 0.8, 0.0, cover)
    colour = torch.tensor([63.0, 42.0, 20.0])
    return to_bytes(images * (1 - cover) + cover * colour)


def _water(images: Tensor, liquid: Tensor, strength: float) -> Tensor:
    wet = (liquid > 0).float()
    relief = smooth(_distance_to_edge(wet), 0.8)
    light = (relief.roll((1, 1), dims=(1, 2)) - relief.roll((-1, -1), dims=(1, 2))).clamp_(min=0)
    shine = liquid * light.add_(0.2)
    brightest = shine.amax(dim=(1, 2, 3), keepdim=True).clamp_(min=1e-6)
    tint = torch.tensor([175.0, 238.0, 238.0])
    return to_bytes(shine.div_(brightest).mul_(strength) * tint + images)


def _distance_to_edge(mask: Tensor, furthest: int = 20) -> Tensor:
    """How many steps each pixel of ``mask`` lies inside its edge, up to ``furthest``."""
    depth, inside = torch.zeros_like(mask), mask
    for _ in range(furthest):
        if not inside.any():
            break
        depth += inside
        inside = _eroded(inside)
    return depth


def _eroded(mask: Tensor) -> Tensor:
    smaller = mask.clone()
    for axis in (1, 2):
        size = mask.shape[axis] - 1
        smaller.narrow(axis, 0, size).mul_(mask.narrow(axis, 1, size))
        smaller.narrow(axis, 1, size).mul_(mask.narrow(axis, 0, size))
    return smaller


def _crop(texture: Tensor, corner: Tensor, height: int, width: int) -> Tensor:
    top = int(corner[0] * (texture.shape[0] - height + 1))
    left = int(corner[1] * (texture.shape[1] - width + 1))
    return texture[top : top + height, left : left + width]


def _grey(images: Tensor) -> Tensor:
    red, green, blue = (channel.float() for channel in images.unbind(3))
    return red.mul_(_GREY[0]).add_(green.mul_(_GREY[1])).add_(blue.mul_(_GREY[2]))
