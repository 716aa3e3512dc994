"""CoTTA: mean teacher, views and restoration (Wang et al., CVPR 2022, arXiv:2203.13591)."""

from trimtab.augment import Augment
from trimtab.components.mean_teacher import MeanTeacher
from trimtab.components.stochastic_restore import StochasticRestore
from trimtab.core.backbone import weights_and_biases
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="CoTTA",
    paper="Wang, Fink, Van Gool and Dai, CVPR 2022, arXiv:2203.13591",
    idea=(
        "A student of which every weight is trained agrees with a slowly averaged teacher, which "
        "looks at 32 augmented views of each batch that the source model is unsure of. Single "
        "weights return to the source by chance."
    ),
    helps="Long streams of slowly changing domains, where its cost can be paid.",
    hurts="Single samples and class-ordered batches on batch-norm networks; tight time budgets.",
    forwards="34 (student, source, 32 teacher views; 3 on batches the source is sure of)",
    backwards="1",
)


def cotta(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    momentum: float = 0.999,
    restore: float | None = None,
    min_confidence: float | None = None,
    views: int = 32,
    symmetric: bool | None = None,
    augment: Augment | None = None,
) -> Method:
    """Agree with an averaged teacher of many views; return to the source weight by weight.

    Trains the tensors that their layers call weight or bias. Returns the teacher's logits.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 0.01 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        momentum: Share of the teacher's weights that stays at each update.
        restore: Probability that an update restores a weight; by default 0.01 for images of up to
            64 px a side, 0.001 for larger ones.
        min_confidence: Mean confidence of the source model from which one teacher view serves; by
            default 0.92 for images of up to 64 px a side, 0.1 for larger ones. The paper tunes it
            by dataset.
        views: Teacher views of a batch of less confidence.
        symmetric: Symmetric cross entropy; by default only for images of more than 64 px a side.
        augment: Makes the teacher's views; by default colour jitter, affine warp, blur and noise.
    """
    teacher = MeanTeacher(
        momentum,
        symmetric=symmetric,
        views_of_teacher=views,
        min_confidence=min_confidence,
        augment=augment,
    )
    return Method(
        (teacher, StochasticRestore(restore)),
        trains=weights_and_biases,
        optimizer=OptimizerChoice(optimizer, lr, sgd_lr=0.01),
    )
