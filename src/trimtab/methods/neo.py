"""NEO: latent re-centering without optimisation (Murphy et al., ICLR 2026, arXiv:2510.05635)."""

from trimtab.components.feature_centering import FeatureCentering
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE

CARD = Card(
    title="NEO",
    paper="Murphy et al., ICLR 2026, arXiv:2510.05635",
    idea=(
        "Leaves the network alone and subtracts the mean of the stream's features before the "
        "linear classifier: a shift of the inputs moves the features of all classes together. "
        "The paper's idea: head(h - mean h), the mean over all samples so far or a moving one. "
        "Ours: a mean of zero counts for 16 samples at the start, so that a first sample alone is "
        "not its own mean (prior_samples=0 is without). "
        "Neither the full paper nor the authors' code was compared."
    ),
    helps="Where no backward pass can be had, at any batch size; made for vision transformers.",
    hurts=(
        "Batch-norm networks, where statistics of batches do far more; short horizons on "
        "class-ordered streams, as the mean of one class is not that of all."
    ),
    forwards="1",
    backwards="0",
)


def neo(*, horizon_samples: int | None = None, prior_samples: int = 16) -> Method:
    """Subtract the mean of the stream's features before the classifier; learn nothing.

    Batch norms use the stored statistics. A stream remembers two numbers for each class. Needs a
    linear classifier.

    Args:
        horizon_samples: From how many samples on the mean moves with the stream; by default all
            samples count alike.
        prior_samples: For how many samples a mean of zero counts at the start.
    """
    return Method((FeatureCentering(horizon_samples, prior_samples),), norm=SOURCE)
