"""ASR: adaptive and selective reset (Lim, Hwang and Lee, ICLR 2026, arXiv:2603.03796)."""

from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.components.certainty_diversity import CertaintyDiversity
from trimtab.components.prior_correction import PriorCorrection
from trimtab.components.selective_reset import SelectiveReset
from trimtab.components.soft_likelihood_ratio import SoftLikelihoodRatio
from trimtab.components.source_ensembling import SourceEnsembling
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="ASR",
    paper="Lim, Hwang and Lee, ICLR 2026, arXiv:2603.03796",
    idea=(
        "ROID whose later layers go back to the source when predictions collapse onto few classes; "
        "what mattered before a reset is returned to by a Fisher term. "
        "Rule, numbers and Fisher term are those of the public code. Ours: nothing is reset while "
        "the source model's own predictions are as concentrated, so that a run of one class is no "
        "collapse (heed_source=False is the authors' rule). For any method: "
        "``tent + selective_reset``."
    ),
    helps="Long streams, on which methods without a way back collapse.",
    hurts="Small batches of many classes, whose mean prediction says little.",
    forwards="2 and one more for each kept sample",
    backwards="2 for each kept sample",
)


def asr(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    ensembling: float = 0.99,
    heed_source: bool = True,
) -> Method:
    """ROID with resets of its later layers when predictions collapse.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        ensembling: Share of the adapted weights that stays at each update.
        heed_source: Reset only where the source model's predictions are not as concentrated.
    """
    components = (
        SoftLikelihoodRatio(),
        AugmentationConsistency(),
        CertaintyDiversity(),
        SelectiveReset(heed_source=heed_source),
        SourceEnsembling(ensembling),
        PriorCorrection(),
    )
    return Method(components, optimizer=OptimizerChoice(optimizer, lr))
