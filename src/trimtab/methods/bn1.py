"""BN-1, BN adaptation: statistics of the batch (Nado et al., 2020, arXiv:2006.10963)."""

from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.norm import BATCH

CARD = Card(
    title="BN-1",
    paper="Nado et al., 2020, arXiv:2006.10963; Schneider et al., NeurIPS 2020, arXiv:2006.16971",
    idea=(
        "Batch norms use the mean and variance of the batch instead of the stored ones. No weight "
        "changes; networks without batch norms predict as the source does."
    ),
    helps="Batch-norm networks under corruption, with large batches of mixed classes.",
    hurts="Small or class-ordered batches, whose statistics are not those of the domain.",
    forwards="1",
    backwards="0",
)


def bn1() -> Method:
    """Normalise each batch by its own (biased) statistics; learn nothing."""
    return Method(norm=BATCH)
