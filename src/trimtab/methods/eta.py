"""ETA (Niu et al., ICML 2022, arXiv:2204.02610): EATA without its Fisher term."""

from trimtab.components.entropy import Entropy
from trimtab.components.novel_samples import NovelSamples
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="ETA",
    paper="Niu et al., ICML 2022, arXiv:2204.02610",
    idea=(
        "Minimises the entropy of samples that are certain and unlike those learned from before, "
        "the most certain ones weighing most. Where no sample qualifies, nothing moves."
    ),
    helps="Streams of mixed classes, also changing ones; it learns from a part of the samples.",
    hurts="Very long or class-ordered streams: nothing leads back to the source.",
    forwards="1",
    backwards="1 for each kept sample",
)


def eta(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    max_entropy: float = 0.4,
    max_similarity: float | None = None,
) -> Method:
    """Minimise the entropy of certain samples that say something new.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        max_similarity: Cosine with the mean of what was learned from before from which a sample
            is left out; by default 0.4 for images of up to 64 px a side, 0.05 for larger ones.
            The literature takes 0.1 for CIFAR100-C.
    """
    components = (Entropy(), NovelSamples(max_entropy, max_similarity))
    return Method(components, optimizer=OptimizerChoice(optimizer, lr))
