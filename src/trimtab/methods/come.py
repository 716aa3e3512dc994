"""COME: conservatively minimised entropy (Zhang et al., ICLR 2025, arXiv:2410.10894)."""

from trimtab.components.opinion_entropy import OpinionEntropy
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="COME",
    paper="Zhang et al., ICLR 2025, arXiv:2410.10894",
    idea=(
        "TENT with the entropy of a subjective opinion, which has a mass for what is undecided, in "
        "place of the softmax's; gradients cannot lengthen the logits. "
        "The opinion, and a belief that is bounded by the model's own of the moment (not by the "
        "source model's): logits of fixed length, as in the formula of public code; our number of "
        "classes where that has ImageNet's 1000. Learning rates are TENT's."
    ),
    helps="Streams on which plain entropy minimisation grows overconfident.",
    hurts="Class-ordered streams, as TENT; it depends on where the logits' zero lies.",
    forwards="1",
    backwards="1",
)


def come(*, lr: float | None = None, optimizer: Kind | None = None) -> Method:
    """Minimise the entropy of opinions that may stay undecided, through the norm layers.

    ``"come + novel_samples"`` is ETA with this loss.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
    """
    return Method((OpinionEntropy(),), optimizer=OptimizerChoice(optimizer, lr))
