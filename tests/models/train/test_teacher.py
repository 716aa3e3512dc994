"""The teacher's logits."""

import torch
from torch import nn

from trimtab.models.train.teacher import teach


def test_the_teacher_sees_each_image_as_it_is_and_mirrored() -> None:
    images = torch.randint(0, 256, (5, 4, 4, 3), dtype=torch.uint8)
    logits = teach(nn.Flatten(), images, batch_size=2)
    inputs = images.permute(0, 3, 1, 2).float() / 255
    assert torch.equal(logits[0], inputs.flatten(1))
    assert torch.equal(logits[1], inputs.flip(3).flatten(1))
