"""SANTA: source anchoring and target alignment (Chakrabarty, Sreenivas, Biswas, TMLR 2023)."""

from trimtab.augment import Augment
from trimtab.components.prototype_contrast import PrototypeContrast
from trimtab.components.source_anchor import SourceAnchor
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.source_data import SourceData

CARD = Card(
    title="SANTA",
    paper="Chakrabarty, Sreenivas and Biswas, TMLR 2023",
    idea=(
        "Norm layers learn to predict what the frozen source model finds likely, for samples and "
        "their augmented views. A contrastive loss keeps features near class prototypes."
    ),
    helps="Continual streams with large batches of mixed classes.",
    hurts="Shifts under which the source model itself is mostly wrong; single samples.",
    forwards="3 (student twice, source model)",
    backwards="2",
    source_data="optional: class means as prototypes",
)


def santa(
    *,
    source_data: SourceData | None = None,
    lr: float | None = None,
    optimizer: Kind | None = None,
    temperature: float = 0.1,
    augment: Augment | None = None,
) -> Method:
    """Anchor predictions to the source model and features to class prototypes.

    Args:
        source_data: Batches of source inputs and labels, whose class means are the prototypes;
            without, the rows of the classifier's weights serve.
        lr: Learning rate; by default 1e-3 with Adam, 0.01 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        temperature: Temperature of the contrastive loss.
        augment: Makes the augmented view; by default colour jitter, affine warp, blur and noise.
    """
    return Method(
        (SourceAnchor(augment), PrototypeContrast(source_data, temperature, augment=augment)),
        optimizer=OptimizerChoice(optimizer, lr, sgd_lr=0.01),
    )
