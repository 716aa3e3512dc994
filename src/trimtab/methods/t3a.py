"""T3A: test-time template adjuster (Iwasawa and Matsuo, NeurIPS 2021)."""

from trimtab.components.prototype_classifier import PrototypeClassifier
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE

CARD = Card(
    title="T3A",
    paper="Iwasawa and Matsuo, Test-Time Classifier Adjustment Module, NeurIPS 2021",
    idea=(
        "Leaves the network alone and replaces the rows of its linear classifier by prototypes: "
        "the mean direction of each class's row and of its most certain features so far. "
        "The paper's idea: supports that begin with the head's rows, pseudo-labels of the "
        "network, a cap by entropy. Ours: prototypes have the mean length of the head's rows, "
        "which decides confidence, not classes. "
        "Neither the full paper nor the authors' code was compared."
    ),
    helps="Where no backward pass can be had, at any batch size, and features keep their classes.",
    hurts=(
        "Batch-norm networks, where statistics of batches do far more; changing domains, as "
        "certain features of old ones stay in the supports."
    ),
    forwards="1",
    backwards="0",
)


def t3a(*, filter_k: int = 20) -> Method:
    """Classify by prototypes of the stream's own certain features; learn nothing.

    Batch norms use the stored statistics. A stream remembers classes x filter_k x features numbers
    at most: 13 thousand for 10 classes and 64 features, 41 million for ImageNet's 1000 and a
    ResNet-50's 2048, where a smaller ``filter_k`` is wise. Needs a linear classifier.

    Args:
        filter_k: Most features in the support of a class, those of least entropy.
    """
    return Method((PrototypeClassifier(filter_k),), norm=SOURCE)
