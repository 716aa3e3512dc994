"""Label shift: correct for the class prior of the moment (ROID, arXiv:2306.00650)."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, Step
from trimtab.core.ranges import check_not_negative, check_positive
from trimtab.functional import along_classes, class_means


@dataclass(frozen=True)
class PriorCorrection(OutputRule):
    """Label shift correction: favour the classes that the recent samples seem to hold.

    The prior is the mean prediction, smoothed so much more the fewer samples and classes it
    rests on and the flatter it is. Two forms make use of it:

    ``"logits"`` multiplies the logits by it. This is the form behind ROID's published numbers.
    It decides well when a model is overconfident and classes are correlated in time, but
    flattens confidence and depends on where the logits' zero lies.

    ``"posterior"`` is the paper's equation: log softmax(logits / temperature) + strength *
    log prior. It keeps the model's calibration and does not care for a shift of the logits.

    Args:
        temperature: Softens the posterior before it is corrected (posterior form).
        iterations: How often the prior is estimated again from the corrected posteriors
            (posterior form).
        strength: Factor on the log prior (posterior form).
        pixels: Whether outputs of segmentation models are corrected too, by the mean prediction
            over all pixels.
    """

    form: Literal["logits", "posterior"] = "logits"
    temperature: float = 1.0
    iterations: int = 0
    strength: float = 1.0
    pixels: bool = False

    dense = True
    assumes_runs = True

    def for_dense(self) -> "PriorCorrection | None":
        """As it is where ``pixels`` says so, otherwise none.

        Classes fill very different shares of a scene, which a segmentation model has learned; the
        mean prediction is no news to it, and counting it twice costs the rare classes.
        """
        return self if self.pixels else None

    def __post_init__(self) -> None:
        if self.form not in ("logits", "posterior"):
            raise ValueError(f"form must be 'logits' or 'posterior', got {self.form!r}")
        check_positive(self, "temperature")
        check_not_negative(self, "iterations")

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        # Recent predictions are those before any output rule; the rows of this step are last.
        if self.form == "logits":
            prior = smoothed_prior(step.recent.logits.softmax(1))
            return logits * along_classes(prior, logits)
        window = (step.recent.logits / self.temperature).log_softmax(1)
        log_prior = along_classes(smoothed_prior(window.exp()).log(), logits)
        for _ in range(self.iterations):
            corrected = (window + self.strength * log_prior).softmax(1)
            log_prior = along_classes(smoothed_prior(corrected).log(), logits)
        posterior = (logits / self.temperature).log_softmax(1)
        return (posterior + self.strength * log_prior).log_softmax(1)


def smoothed_prior(probs: Tensor) -> Tensor:
    """Mean of the rows or pixels, mixed with a uniform prior: ROID's adaptive smoothing, eq. 6.

    The fewer of them, or of classes, and the flatter the mean, the more of the uniform prior.
    """
    classes = probs.shape[1]
    samples = probs.numel() // classes
    prior = class_means(probs)
    smoothing = max(1 / samples, 1 / classes) / prior.max()
    return (prior + smoothing) / (1 + smoothing * classes)
