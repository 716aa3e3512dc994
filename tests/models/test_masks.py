"""Class masks of the ImageNet variants."""

import torch
from torch import nn

from trimtab.models.masks import IMAGENET_D109, IMAGENET_D109_CLASSES, IMAGENET_R, Masked


def test_imagenet_r_has_two_hundred_ascending_classes() -> None:
    assert len(IMAGENET_R) == 200
    assert list(IMAGENET_R) == sorted(set(IMAGENET_R))
    assert (IMAGENET_R[0], IMAGENET_R[-1]) == (1, 988)


def test_imagenet_d109_pairs_each_name_with_one_class() -> None:
    assert len(IMAGENET_D109) == len(set(IMAGENET_D109)) == 109
    assert list(IMAGENET_D109_CLASSES) == sorted(IMAGENET_D109_CLASSES)
    pairs = dict(zip(IMAGENET_D109_CLASSES, IMAGENET_D109, strict=True))
    assert (pairs["zebra"], pairs["banana"], pairs["traffic_light"]) == (340, 954, 920)


def test_a_masked_network_keeps_the_chosen_logits_in_order() -> None:
    masked = Masked(nn.Identity(), [5, 2])
    assert masked(torch.arange(8.0).view(1, 8)).tolist() == [[5.0, 2.0]]
    assert list(masked.state_dict()) == []
