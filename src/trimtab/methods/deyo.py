"""DeYO: entropy minimisation of samples by PLPD (Lee et al., ICLR 2024, arXiv:2403.07366)."""

from typing import Literal

from trimtab.augment.destroy import DESTRUCTIONS
from trimtab.components.entropy import Entropy
from trimtab.components.structure_dependence import Destruction, StructureDependence
from trimtab.core.backbone import in_norm_layers
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.position import NormBeforeLastBlocks
from trimtab.core.spec import choice

CARD = Card(
    title="DeYO",
    paper="Lee et al., ICLR 2024, arXiv:2403.07366",
    idea=(
        "Minimises the entropy of certain samples whose class becomes less probable once the "
        "image's patches are shuffled. Such samples are recognised by their shape, not by what "
        "happens to surround it."
    ),
    helps="Streams with spurious backgrounds or textures, and small or mixed batches.",
    hurts="Inputs without spatial structure; long streams, for nothing leads back to the source.",
    forwards="1 and one more for each certain sample",
    backwards="1 for each kept sample",
)


def deyo(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    max_entropy: float = 0.5,
    min_drop: float = 0.2,
    destruction: Literal["patches", "pixels", "occlusion"] | Destruction = "patches",
    train_last_blocks: bool = False,
) -> Method:
    """Minimise the entropy of certain samples that are recognised by their structure.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        min_drop: Drop of the predicted class's probability up to which a sample is left out.
        destruction: How structure is destroyed: shuffled ``"patches"`` (4 x 4 of them) or
            ``"pixels"``, an ``"occlusion"`` of the centre, or a function of images and a
            generator.
        train_last_blocks: Train the norm layers of the last blocks too. By default the last
            quarter of four or more is left alone (of ResNet-50 the last stage, of a ViT-B the
            last three blocks), and so is what follows.
    """
    if isinstance(destruction, str):
        destroy: Destruction = DESTRUCTIONS[choice("destruction", destruction, DESTRUCTIONS)]()
    else:
        destroy = destruction
    weighting = StructureDependence(max_entropy, min_drop=min_drop, destroy=destroy)
    return Method(
        (Entropy(), weighting),
        trains=in_norm_layers if train_last_blocks else NormBeforeLastBlocks(),
        optimizer=OptimizerChoice(optimizer, lr),
    )
