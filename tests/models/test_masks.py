"""Class masks of the ImageNet variants."""

import torch
from torch import nn

from trimtab.imagenet_classes import IMAGENET_D109, IMAGENET_R
from trimtab.models.masks import Masked


def test_imagenet_r_has_two_hundred_ascending_classes() -> None:
    assert len(IMAGENET_R) == 200
    assert list(IMAGENET_R) == sorted(set(IMAGENET_R))
    assert (IMAGENET_R[0], IMAGENET_R[-1]) == (1, 988)


def test_imagenet_d109_pairs_each_name_with_one_class() -> None:
    assert len(IMAGENET_D109) == len(set(IMAGENET_D109.values())) == 109
    assert list(IMAGENET_D109) == sorted(IMAGENET_D109)
    found = [IMAGENET_D109[name] for name in ("zebra", "banana", "traffic_light")]
    assert found == [340, 954, 920]


def test_a_masked_network_keeps_the_chosen_logits_in_order() -> None:
    masked = Masked(nn.Identity(), [5, 2])
    assert masked(torch.arange(8.0).view(1, 8)).tolist() == [[5.0, 2.0]]
    assert list(masked.state_dict()) == []
