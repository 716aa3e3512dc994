"""CMF: continual momentum filtering of the weights (Lee and Chang, ICLR 2024)."""

from collections.abc import Callable
from typing import Literal

from torch import Tensor

from trimtab.augment import ColorAffineFlip
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.kalman_ensembling import KalmanEnsembling
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="CMF",
    paper="Lee and Chang, Continual Momentum Filtering, ICLR 2024",
    idea=(
        "Learns as ROID does, but pulls the weights towards a hidden model instead of the source. "
        "A Kalman filter moves that model between the source and the weights so far."
    ),
    helps="Continual streams whose domains last: it keeps more of what it learned than ROID.",
    hurts="Batch-norm networks on class-ordered batches; and it holds one more set of weights.",
    forwards="1 and one more for each kept sample",
    backwards="2 for each kept sample",
)


def cmf(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    momentum: float = 0.99,
    source_momentum: float = 0.99,
    noise: float = 0.005,
    prior: Literal["logits", "posterior"] | None = "logits",
    augment: Callable[..., Tensor] | None = None,
) -> Method:
    """Learn as ROID does, held by a filtered model instead of the source.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        momentum: Share of the adapted weights that stays at each update.
        source_momentum: Share of the hidden model that stays at each update.
        noise: How fast the hidden model follows, for 38,400 trained parameters.
        prior: How outputs are corrected for the class prior: ``"logits"`` as behind the
            published numbers, ``"posterior"`` as in ROID's paper.
        augment: Makes the augmented view; by default colour jitter, affine warp and flip.
    """
    components = (
        SoftLikelihoodRatio(),
        AugmentationConsistency(augment or ColorAffineFlip()),
        CertaintyDiversity(),
        KalmanEnsembling(momentum, source_momentum, noise),
    )
    method = Method(components, optimizer=OptimizerChoice(optimizer, lr))
    return method if prior is None else method.plus(PriorCorrection(prior))
