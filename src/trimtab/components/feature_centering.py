"""Latent re-centering: the classifier sees features around zero (NEO, arXiv:2510.05635)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, Start, Step
from trimtab.core.linear_head import linear_head
from trimtab.core.norm import SOURCE
from trimtab.core.ranges import check_counts
from trimtab.core.source_data import SourceInputs, unlabelled


@dataclass(frozen=True)
class FeatureCentering(OutputRule):
    """Subtract the mean of the stream's features before the linear classifier.

    With a linear classifier, head(h - mean h) is the logits less the mean of (logits - bias). So
    the mean is kept in the space of logits, one number a class, and nothing passes the head again.

    Args:
        horizon_samples: From how many samples on the mean moves with the stream; None counts all
            samples alike for ever.
        prior_samples: For how many samples a mean that changes nothing counts at the start. With 0
            the first sample alone would be its own mean.
        source_data: Batches of source inputs, labelled or not: the features' mean becomes that of
            the source's features (FOA's shift, arXiv:2404.01650) in the place of zero.
    """

    horizon_samples: int | None = None
    prior_samples: int = 16
    source_data: SourceInputs | None = field(default=None, compare=False, repr=False)

    not_dense = "moves the features of a linear classifier, and pixels have none"

    def __post_init__(self) -> None:
        check_counts(self, "horizon_samples", unit="sample")
        check_counts(self, "prior_samples", least=0)

    def new_memory(self, start: Start) -> Tensors:
        """The head's bias and its answers, without it, to the mean features of source and stream.

        Each of shape (classes,).
        """
        bias = linear_head(start, self.name).bias
        source = torch.zeros_like(bias)
        if self.source_data is not None:
            inputs = [*unlabelled(self.source_data, start.sample_shape)]
            kind = start.device, start.backbone.dtype
            with torch.no_grad():
                found = [start.forward(x.to(*kind), {}, SOURCE).logits for x in inputs]
            source = torch.cat(found).to(bias).mean(0) - bias
        return {
            "bias": bias,
            "source": source,
            "shift": source.clone(),
            "samples": torch.tensor(self.prior_samples, device=start.device),
        }

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        known = int(memory["samples"]) + len(logits)
        if self.horizon_samples is not None:
            known = min(known, max(self.horizon_samples, len(logits)))
        linear_part = (step.logits - memory["bias"]).mean(0)
        memory["shift"].lerp_(linear_part.to(memory["shift"]), len(logits) / known)
        memory["samples"].fill_(known)
        return logits - memory["shift"] + memory["source"]
