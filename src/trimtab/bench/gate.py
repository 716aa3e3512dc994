"""Sanity check of the source model: it must be the one it claims to be before a run counts."""

import torch

from trimtab import models
from trimtab.core.backbone import Backbone
from trimtab.streams.data import LabelledImages
from trimtab.streams.scenarios import Single

MOST_IMAGES = 1000
"""Clean images that the check looks at."""


class GateError(ValueError):
    """The source model is not what its table entry says."""


@torch.no_grad()
def check(name: str, backbone: Backbone, data: str, clean: LabelledImages) -> float | None:
    """Clean accuracy in percent on up to 1,000 images; None where the table states none for them.

    The images are a sample, so the accuracy may differ from the stated one by what chance
    allows: four standard errors of a share, and at least two points.
    """
    entry = models.describe(name.partition("@")[0])
    if entry.clean_accuracy is None or entry.dataset != data:
        return None
    stream = Single(domain="clean", images_per_domain=min(MOST_IMAGES, len(clean))).stream(
        clean, batch_size=250
    )
    right = [backbone(b.inputs).logits.argmax(1) == b.labels for b in stream]  # or their pixels
    accuracy = 100 * float(torch.cat(right).double().mean())
    share = entry.clean_accuracy / 100
    slack = max(2.0, 400 * (share * (1 - share) / stream.num_images) ** 0.5)
    if abs(accuracy - entry.clean_accuracy) > slack:
        raise GateError(
            f"{name} has {accuracy:.1f} % clean accuracy on {stream.num_images} images of {data}, "
            f"but should have {entry.clean_accuracy:.1f} %: wrong weights or wrong normalisation?"
        )
    return accuracy
