"""Augmentations: altered views of images that keep their class, drawn first and applied afterwards.

``color_affine`` (ROID, CoTTA, RoTTA and others), ``augmix`` (MEMO), ``contrast`` (AdaContrast),
``destroy`` (DeYO's PLPD), each made of the colour changes in ``colors``.
"""

from trimtab.augment.color_affine import (
    Augment,
    ColorAffineBlurNoise,
    ColorAffineFlip,
    augmented,
    mirrored,
)

__all__ = ["Augment", "ColorAffineBlurNoise", "ColorAffineFlip", "augmented", "mirrored"]
