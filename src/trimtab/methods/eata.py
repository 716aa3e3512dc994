"""EATA: selective entropy minimisation with a Fisher term (Niu et al., 2022, arXiv:2204.02610)."""

from trimtab.components.entropy import Entropy
from trimtab.components.fisher_penalty import FisherPenalty
from trimtab.components.novel_samples import NovelSamples
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice
from trimtab.core.source_data import SourceInputs

CARD = Card(
    title="EATA",
    paper="Niu et al., ICML 2022, arXiv:2204.02610",
    idea=(
        "Minimises the entropy of samples that are certain and unlike those learned from before. "
        "A Fisher term, from source inputs, holds the weights that the source task needs."
    ),
    helps="Streams of mixed classes where the source domain must not be forgotten.",
    hurts="Class-ordered streams; and wherever no source inputs can be had (use ETA there).",
    forwards="1",
    backwards="1 for each kept sample",
    source_data="about 2000 inputs without labels, once when a stream begins",
)


def eata(
    *,
    source_data: SourceInputs | None = None,
    lr: float | None = None,
    optimizer: Kind | None = None,
    max_entropy: float = 0.4,
    max_similarity: float | None = None,
    fisher_weight: float | None = None,
    fisher_samples: int = 2000,
) -> Method:
    """Minimise the entropy of certain, new samples, and keep what the source task needs.

    Args:
        source_data: Batches of source inputs, or (inputs, labels) pairs whose labels are not
            used: a list or a loader. Each stream reads it when it begins, one forward and one
            backward pass, which its counters include.
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        max_entropy: Entropy from which a sample is left out, as a share of ln(classes).
        max_similarity: Cosine with the mean of what was learned from before from which a sample
            is left out; by default 0.4 for images of up to 64 px a side, 0.05 for larger ones.
            The literature takes 0.1 for CIFAR100-C.
        fisher_weight: Factor on the Fisher term; by default 1 for images of up to 64 px a side,
            2000 for larger ones.
        fisher_samples: Read source batches until they hold this many.
    """
    if source_data is None:
        raise ValueError(
            "eata needs source_data=, batches of source inputs for its Fisher term; "
            "without any, use 'eta', which is eata without that term"
        )
    components = (
        Entropy(),
        NovelSamples(max_entropy, max_similarity),
        FisherPenalty(source_data, fisher_weight, fisher_samples),
    )
    return Method(components, optimizer=OptimizerChoice(optimizer, lr))
