"""The source model as it is: what every method has to beat."""

from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE

CARD = Card(
    title="Source",
    paper="no paper: the model as it was trained",
    idea=(
        "Predicts with the source weights and the stored batch-norm statistics. It learns "
        "nothing, so it can neither gain nor lose."
    ),
    helps="As the baseline that every method has to beat.",
    hurts="Wherever the stream differs from the training data.",
    forwards="1",
    backwards="0",
)


def source() -> Method:
    """Predict with the source weights and statistics; learn nothing."""
    return Method(norm=SOURCE)
