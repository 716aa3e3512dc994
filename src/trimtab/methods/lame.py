"""LAME: Laplacian-adjusted likelihood of the output (Boudiaf et al., 2022, arXiv:2201.05718)."""

from trimtab.components.laplacian import Affinity, Laplacian
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE

CARD = Card(
    title="LAME",
    paper="Boudiaf et al., CVPR 2022, arXiv:2201.05718",
    idea=(
        "Leaves the source model alone and corrects its probabilities, so that samples of a batch "
        "with similar features agree. A sample alone keeps the source's prediction."
    ),
    helps="Class-ordered streams, such as video, where neighbours share a class.",
    hurts="Batches of mixed classes, where agreement is wrong: worse than the source there.",
    forwards="1",
    backwards="0",
)


def lame(*, affinity: Affinity = "rbf", neighbors: int = 5, symmetric: bool = False) -> Method:
    """Let samples with similar features agree; learn nothing.

    Batch norms use the stored statistics. With a ``window``, agreement is sought among as many
    recent samples, so that single samples are corrected too.

    Args:
        affinity: How alike two samples are: ``"rbf"``, ``"knn"`` or ``"linear"``.
        neighbors: How many samples are near.
        symmetric: Average the affinity of each pair over both directions.
    """
    return Method((Laplacian(affinity, neighbors, symmetric),), norm=SOURCE)
