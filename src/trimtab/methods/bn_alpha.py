"""BN-alpha, BN adaptation: statistics mixed (Schneider et al., 2020, arXiv:2006.16971)."""

from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.norm import NormPolicy

CARD = Card(
    title="BN-alpha",
    paper="Schneider et al., NeurIPS 2020, arXiv:2006.16971",
    idea=(
        "Batch norms use a mixture of the stored statistics and those of the batch. The stored "
        "ones act as a prior, so that even single samples can be corrected a little."
    ),
    helps="Batch-norm networks on single samples or small batches.",
    hurts="Little; but with large batches of mixed classes it corrects less than BN-1.",
    forwards="1",
    backwards="0",
)


def bn_alpha(*, batch_weight: float = 0.1) -> Method:
    """Mix the stored statistics with the batch's, whose variance is unbiased; learn nothing.

    Args:
        batch_weight: Share of the batch's statistics. The paper's prior strength of N samples
            and n in the batch make it n / (N + n).
    """
    return Method(norm=NormPolicy(batch_weight, unbiased=True, differentiable=False))
