"""ROID: universal test-time adaptation (Marsden, Döbler, Yang, WACV 2024, arXiv:2306.00650)."""

from collections.abc import Callable
from typing import Literal

from torch import Tensor

from trimtab.augment import ColorAffineFlip
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.card import Card
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="ROID",
    paper="Marsden, Döbler and Yang, WACV 2024, arXiv:2306.00650",
    idea=(
        "Learns from certain and diverse samples by a soft likelihood ratio and by consistency "
        "with an augmented view, while each update pulls the weights back towards the source. "
        "Outputs are corrected for the class prior of the moment."
    ),
    helps="Any stream: steady, changing or mixed domains, random or correlated classes.",
    hurts="Batch-norm networks on class-ordered batches, whose statistics mislead every layer.",
    forwards="1 and one more for each kept sample (1.62 in the paper's ImageNet-R run)",
    backwards="2 for each kept sample (1.24 in the paper's ImageNet-R run)",
)


def roid(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    weighting: bool = True,
    ensembling: float | None = 0.99,
    consistency: bool = True,
    prior: Literal["logits", "posterior"] | PriorCorrection | None = "logits",
    temperature: float = 1 / 3,
    probs_momentum: float = 0.9,
    augment: Callable[..., Tensor] | None = None,
) -> Method:
    """Certain where it counts, close to the source, corrected for the batch's prior.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        weighting: Leave out and weight samples by certainty and diversity.
        ensembling: Share of the adapted weights that stays at each update; None keeps all.
        consistency: Learn to agree with an augmented view.
        prior: How outputs are corrected for the class prior: ``"logits"`` as behind the
            published numbers, ``"posterior"`` as in the paper, or a PriorCorrection.
        temperature: Temperature of the sample weights.
        probs_momentum: Share of the mean prediction that stays at each batch; diversity is the
            distance from it.
        augment: Makes the augmented view; by default colour jitter, affine warp and flip.
    """
    components: list[Component] = [SoftLikelihoodRatio()]
    if consistency:
        components.append(AugmentationConsistency(augment or ColorAffineFlip()))
    if weighting:
        components.append(CertaintyDiversity(temperature, probs_momentum))
    if ensembling is not None:
        components.append(SourceEnsembling(ensembling))
    if prior is not None:
        components.append(prior if isinstance(prior, PriorCorrection) else PriorCorrection(prior))
    return Method(tuple(components), optimizer=OptimizerChoice(optimizer, lr))
