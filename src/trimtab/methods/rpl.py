"""RPL: robust pseudo-labelling (Rusak et al., TMLR 2022, arXiv:2104.12928)."""

from trimtab.components.robust_pseudo_label import RobustPseudoLabel
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="RPL",
    paper="Rusak et al., TMLR 2022, arXiv:2104.12928",
    idea=(
        "Learns its own predictions as labels, through a generalised cross entropy that wrong "
        "labels disturb less. It moves the scale and shift of the norm layers."
    ),
    helps="As TENT, with more tolerance for noisy predictions.",
    hurts="Long, mixed or class-ordered streams: nothing keeps it from collapsing.",
    forwards="1",
    backwards="1",
)


def rpl(*, lr: float | None = None, optimizer: Kind | None = None, exponent: float = 0.8) -> Method:
    """Learn one's own labels by a loss that forgives wrong ones.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        exponent: The loss's exponent (the paper's q): smaller is nearer to the cross entropy.
    """
    choice = OptimizerChoice(optimizer, lr, sgd_lr=5e-4)
    return Method((RobustPseudoLabel(exponent),), optimizer=choice)
