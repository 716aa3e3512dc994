"""RMemSafe: pulls to the source by its reliability (Singh et al., 2026, arXiv:2605.14063)."""

from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.selective_reset import SelectiveReset
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.components.source_reliability import SourceReliability
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="RMemSafe",
    paper="Singh et al., 2026, arXiv:2605.14063",
    idea=(
        "ROID with ASR's resets, whose pull towards the source is the weaker the less certain the "
        "source model is: where it guesses, there is nothing to return to. "
        "The paper's gate on weight ensembling; ours is the formula, 1 less the mean entropy as a "
        "share of ln(classes); the paper's agreement filter and marginal calibration are left out. "
        "Neither the full paper nor the authors' code was compared. For any method: "
        "``cmf + source_reliability``."
    ),
    helps="Long streams in domains where the source model is all but lost.",
    hurts="Overconfident sources, whose certainty is no sign of being right.",
    forwards="2 and one more for each kept sample",
    backwards="2 for each kept sample",
)


def rmemsafe(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    ensembling: float = 0.99,
    power: float = 1.0,
    heed_source: bool = True,
) -> Method:
    """ROID with resets on collapse, pulled to the source as far as the source is certain.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        ensembling: Share of the adapted weights that stays at an update where the source is
            certain.
        power: Above 1, an uncertain source pulls less.
        heed_source: Reset only where the source model's predictions are not as concentrated.
    """
    components = (
        SoftLikelihoodRatio(),
        AugmentationConsistency(),
        CertaintyDiversity(),
        SourceReliability(power),
        SelectiveReset(heed_source=heed_source),
        SourceEnsembling(ensembling),
        PriorCorrection(),
    )
    return Method(components, optimizer=OptimizerChoice(optimizer, lr))
