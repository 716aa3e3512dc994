"""RDumb: ETA with periodic resets (Press et al., NeurIPS 2023, arXiv:2306.05401)."""

from trimtab.components.entropy import Entropy
from trimtab.components.novel_samples import NovelSamples
from trimtab.components.periodic_reset import PeriodicReset
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="RDumb",
    paper="Press et al., NeurIPS 2023, arXiv:2306.05401",
    idea=(
        "ETA that begins again with the source weights every 1000 batches. What it forgets it "
        "learns anew, and it can never drift for longer than that."
    ),
    helps="Very long streams, on which most methods end below the source model.",
    hurts="Streams whose domain stays: each reset throws away what was right.",
    forwards="1",
    backwards="1 for each kept sample",
)


def rdumb(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    max_entropy: float = 0.4,
    max_similarity: float | None = None,
    every: int = 1000,
) -> Method:
    """Learn as ETA does, and begin again after ``every`` batches.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        max_similarity: Cosine with the mean of what was learned from before from which a sample
            is left out; by default 0.4 for images of up to 64 px a side, 0.05 for larger ones.
        every: Batches (windows, where there is a window) between resets.
    """
    components = (Entropy(), NovelSamples(max_entropy, max_similarity), PeriodicReset(every))
    return Method(components, optimizer=OptimizerChoice(optimizer, lr))
