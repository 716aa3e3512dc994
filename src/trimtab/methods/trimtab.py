"""ROID with temperature scaling, HMM smoothing and BN adaptation that need no labels (preset)."""

from collections.abc import Callable

from torch import Tensor

from trimtab.augment import ColorAffineFlip, mirrored
from trimtab.components.adaptive_norm import AdaptiveNorm
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.cautious_updates import CautiousUpdates
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.components.temporal_prior import TemporalPrior
from trimtab.components.view_temperature import ViewTemperature
from trimtab.core.card import Card
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

VARIETY = 0.8
"""Classes that make a whole update, as a share of those that independent samples show, or that the
stream has shown if these are fewer."""

CARD = Card(
    title="Trimtab",
    paper="this project's own preset on top of ROID; see docs/beyond-roid.md",
    idea=(
        "Learns as ROID does. Temperature scaling from augmented views makes confidence honest; "
        "hidden Markov chains and local class priors correct predictions along time, as far as "
        "their order shows correlation; and a network's later batch norms trust a batch only "
        "while its samples show many classes."
    ),
    helps="Any stream, of any batch size: steady, changing or mixed domains, random or correlated.",
    hurts=(
        "A first long run of one class looks like a biased model, and is left alone until another "
        "class follows."
    ),
    forwards=(
        "1, one more for each kept sample, and two for one sample in 16; with batch norms, one "
        "more for one in 16"
    ),
    backwards="2 for each kept sample",
)


def trimtab(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    temperature: bool = True,
    prior: bool = True,
    adaptive_norm: bool = True,
    cautious: bool = True,
    augment: Callable[..., Tensor] | None = None,
) -> Method:
    """ROID's learning, honest confidence, and as much trust in neighbours as they deserve.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        temperature: Soften or sharpen outputs by what augmented views say of their confidence.
        prior: Smooth outputs along time where classes are correlated.
        adaptive_norm: Let batch norms trust a batch by how many samples it holds, and the later
            ones by how many classes these show; otherwise they use its statistics alone.
        cautious: Let updates from few samples, or from few classes, count for little.
        augment: Makes the augmented view; by default colour jitter, affine warp and flip.
    """
    mild = augment or mirrored
    augment = augment or ColorAffineFlip()
    components: list[Component] = [
        SoftLikelihoodRatio(),
        AugmentationConsistency(augment),
        CertaintyDiversity(),
        SourceEnsembling(0.99),
    ]
    if cautious:
        components.append(CautiousUpdates(variety=VARIETY))
    if temperature:
        components.append(ViewTemperature(augment, mild))
    if prior:
        components.append(TemporalPrior())
    if adaptive_norm:  # last, because it counts the classes of corrected predictions
        components.append(AdaptiveNorm())
    choice = OptimizerChoice(optimizer, lr)
    return Method(tuple(components), optimizer=choice, guarded=True)
