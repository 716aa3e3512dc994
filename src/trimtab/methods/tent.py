"""TENT: entropy minimisation through norm layers (Wang et al., ICLR 2021, arXiv:2006.10726)."""

from trimtab.components.entropy import Entropy
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="TENT",
    paper="Wang et al., ICLR 2021, arXiv:2006.10726",
    idea=(
        "Minimises the entropy of each batch's predictions by moving the scale and shift of the "
        "norm layers. Batch norms use the statistics of the batch."
    ),
    helps="Short streams of one domain, with large batches of mixed classes.",
    hurts="Long, mixed or class-ordered streams: nothing keeps it from collapsing.",
    forwards="1",
    backwards="1",
)


def tent(*, lr: float | None = None, optimizer: Kind | None = None) -> Method:
    """Minimise the entropy of each batch through the norm layers' scale and shift.

    Small and fast, but it drifts on long or class-ordered streams; add ``source_ensembling`` or
    ``certainty_diversity`` to steady it.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
    """
    return Method((Entropy(),), optimizer=OptimizerChoice(optimizer, lr))
