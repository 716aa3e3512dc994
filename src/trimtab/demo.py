"""Real adaptation on real images, offline: the networks and images that come with the package."""

from trimtab import models, streams
from trimtab.core.backbone import Backbone
from trimtab.streams.stream import Stream


def load_demo(
    model: str = "fashion_resnet20_bn",
    scenario: str = "continual",
    *,
    images_per_domain: int = 200,
    batch_size: int = 50,
    seed: int = 0,
) -> tuple[Backbone, Stream]:
    """A small trained network and a stream of corrupted Fashion-MNIST test images.

    Args:
        model: ``"fashion_resnet20_bn"``, ``"fashion_resnet20_gn"`` or ``"fashion_vit"``; for
            segmentation, of scenes made of these images, ``"scenes_unet_bn"``.
        scenario: Words such as ``"mixed"`` or ``"mixed_correlated(delta=0.1)"``.
        images_per_domain: Of each of the fifteen corruptions, at most 3,000.
    """
    stream = streams.scenario(scenario).stream(
        streams.load(models.describe(model).dataset),
        seed=seed,
        batch_size=batch_size,
        images_per_domain=images_per_domain,
    )
    return models.load(model), stream
