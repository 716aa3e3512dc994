"""SPA: self-bootstrapping by degraded views (Niu et al., ICML 2025, arXiv:2504.08010)."""

from trimtab.augment.degrade import LowFrequencyMask, PatchNoise
from trimtab.components.self_bootstrapping import SelfBootstrapping
from trimtab.core.card import Card
from trimtab.core.method import Method
from trimtab.core.optimizer import Kind, OptimizerChoice

CARD = Card(
    title="SPA",
    paper="Niu et al., ICML 2025, arXiv:2504.08010",
    idea=(
        "Predictions of two degraded views, one without some low frequencies and one with noisy "
        "patches, learn from the image's own where that one is more confident. "
        "The public code's losses, views and selection. Ours: a patch's share of noise is drawn, "
        "where the authors learn one for each place against the model; no predictor in the "
        "views' branch; and the optimiser for the size of the images."
    ),
    helps="Mild shifts; outputs for each pixel, as no view moves anything.",
    hurts="Class-ordered streams, and long ones: nothing leads back to the source.",
    forwards="3",
    backwards="3",
)


def spa(
    *,
    lr: float | None = None,
    optimizer: Kind | None = None,
    masked: float = 0.2,
    noise: float = 0.4,
) -> Method:
    """Let degraded views of a sample learn from the sample itself, through the norm layers.

    Args:
        lr: Learning rate; by default 1e-3 with Adam, 2.5e-4 with SGD.
        optimizer: ``"adam"`` or ``"sgd"``; by default the one for the size of the images.
        masked: Share of the low frequencies whose amplitude is masked in one view.
        noise: Mean share of noise in the patches of the other view.
    """
    views = (LowFrequencyMask(masked), PatchNoise(noise))
    return Method((SelfBootstrapping(views),), optimizer=OptimizerChoice(optimizer, lr))
