"""ZeroSiam: entropy minimisation without collapse (Chen et al., ICLR 2026, arXiv:2509.23183)."""

from trimtab.components.siamese_entropy import SiameseEntropy
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="ZeroSiam",
    paper="Chen et al., ICLR 2026, arXiv:2509.23183",
    idea=(
        "TENT behind a trained matrix before the classifier, whose prediction is held to the one "
        "without it. What pushes towards a collapse is taken up by the matrix, and predictions "
        "are made without it. As in the public code: losses, SGD with momentum, the matrix with "
        "ten times the learning rate (the authors take 1 to 10 by network)."
    ),
    helps="Label shift and small batches, where plain entropy minimisation collapses.",
    hurts="Streams on which SGD's small steps learn too slowly; needs a linear classifier.",
    forwards="1",
    backwards="1",
)


def zerosiam(
    *,
    lr: float | None = None,
    optimizer: Kind | None = "sgd",
    predictor_rate: float = 10.0,
) -> Method:
    """Minimise entropy behind a predictor that is kept close to the prediction without it.

    A stream remembers the predictor and the classifier's weight: features x (features + classes)
    numbers, twice that with SGD's momentum.

    Args:
        lr: Learning rate; with SGD 1e-3 for images of up to 64 px a side, 2.5e-4 for larger ones;
            with Adam 1e-3.
        optimizer: ``"sgd"`` with momentum 0.9 as in the paper, ``"adam"``, or None for the one for
            the size of the images.
        predictor_rate: Learning rate of the predictor, in multiples of ``lr``.
    """
    choice = OptimizerChoice(optimizer, lr, small_sgd_lr=1e-3, nesterov=False)
    return Method((SiameseEntropy(predictor_rate),), optimizer=choice)
