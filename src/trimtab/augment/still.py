"""Augmentation for dense outputs: colour, blur and noise, while every pixel stays where it is."""

from dataclasses import replace

from trimtab.augment.color_affine import Augment, ColorAffineFlip
from trimtab.augment.draw_first import DrawFirst


def still(augment: Augment) -> Augment:
    """The augmentation without its warp and flip, so that pixels of a view keep their labels.

    One of the user's own is taken as it is: it has to leave pixels where they are.
    """
    if isinstance(augment, ColorAffineFlip):
        none = {"rotation": 0.0, "translation": 0.0, "scale": (1.0, 1.0), "flip_probability": 0.0}
        return replace(augment, **none)  # type: ignore[arg-type]
    if isinstance(augment, DrawFirst):
        raise ValueError(
            f"augments by {type(augment).__name__}, which moves pixels away from their labels; "
            "pass augment= with one that changes colours alone"
        )
    return augment
