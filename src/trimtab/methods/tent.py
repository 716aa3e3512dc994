"""TENT (Wang et al., ICLR 2021, arXiv:2006.10726)."""

from trimtab.components.entropy import Entropy
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice


def tent(*, lr: float | None = None, optimizer: Kind | None = None) -> Method:
    """Minimise the entropy of each batch through the norm layers' scale and shift.

    Small and fast, but it drifts on long or class-ordered streams; add ``source_ensembling`` or
    ``certainty_diversity`` to steady it.
    """
    return Method((Entropy(),), optimizer=OptimizerChoice(optimizer, lr))
