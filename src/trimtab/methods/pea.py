"""PEA: progressive embedding alignment without a backward pass (Xiao et al., ICLR 2026)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from trimtab.components.feature_centering import FeatureCentering
from trimtab.core.aligned import READING, Aligned, Moments, is_alignment
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.card import Card
from trimtab.core.component import Start
from trimtab.core.learner import Learner
from trimtab.core.method import Method
from trimtab.core.norm import SOURCE
from trimtab.core.prediction import Prediction
from trimtab.core.ranges import check_counts
from trimtab.core.source_data import SourceInputs, unlabelled

CARD = Card(
    title="PEA",
    paper="Xiao et al., Architecture-Agnostic Test-Time Adaptation, ICLR 2026",
    idea=(
        "Whitens the embeddings of each block by the stream's moving covariance and colours them "
        "with the source's, without a backward pass; a block is mapped the more, the further its "
        "mean and variance are from the source's. "
        "The paper's idea; ours: statistics count samples, the source's for 16 at the start, and "
        "the features' mean before the classifier is moved to the source's too. Blocks need "
        "``trimtab.aligned(model)`` and source data; on other networks this is the move of the "
        "mean alone. Neither the full paper nor the code was compared."
    ),
    helps="Steady shifts where no backward pass can be had and source inputs can.",
    hurts="Batch-norm networks on stored statistics; class-ordered streams, as one class's "
    "covariance is not that of all.",
    forwards="1 (and 1 more where blocks are aligned)",
    backwards="0",
    source_data="a few hundred inputs without labels, once when a stream begins; for blocks",
)

MEMORY = "embedding_alignment"
LEAST_VARIANCE = 1e-3
"""Added to variances, as a share of their mean: directions without variance are left alone."""


@dataclass(frozen=True)
class EmbeddingAlignment(Learner):
    """The common loop on a network whose blocks are mapped to the source's moments.

    Args:
        horizon_samples: From how many samples on moments move with the stream; 3200 is the paper's
            momentum, 0.02 a batch of 64.
        prior_samples: For how many samples the source's moments count at the start.
        source_data: Batches of source inputs.
    """

    horizon_samples: int = 3200
    prior_samples: int = 16
    source_data: SourceInputs | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        check_counts(self, "horizon_samples", unit="sample")
        check_counts(self, "prior_samples", least=1)

    def own_memory(self, start: Start) -> dict[str, Tensors]:
        if not start.backbone.parameters(is_alignment):
            return {}
        if self.source_data is None:
            raise ValueError(
                "pea needs source_data=, batches of source inputs, for the moments of the blocks; "
                "without any, use 'neo'"
            )
        ask = {READING: torch.ones((), device=start.device)}
        kind, read = (start.device, start.backbone.dtype), []
        with torch.no_grad():
            for batch in unlabelled(self.source_data, start.sample_shape):
                read.append(start.forward(batch.to(*kind), ask, SOURCE).logits)
        model = start.backbone.model
        assert isinstance(model, Aligned)
        memory: Tensors = {"samples": torch.tensor(float(self.prior_samples), device=start.device)}
        for number, moments in enumerate(model.moments(torch.cat(read))):
            for name, value in moments._asdict().items():
                memory |= {f"source_{name}.{number}": value, f"{name}.{number}": value.clone()}
        return {MEMORY: memory}

    def predict(self, attempt: Attempt, inputs: Tensor) -> Prediction:
        memory, model = attempt.state.memory.get(MEMORY), attempt.backbone.model
        if memory is None or not isinstance(model, Aligned):
            return super().predict(attempt, inputs)
        present = self._maps(memory, len(model.widths))
        ask = {READING: torch.ones((), device=inputs.device)}
        with torch.no_grad():
            read = attempt.forward(inputs, present | ask, SOURCE).logits
            self._follow(memory, model.moments(read), len(inputs))
            return attempt.forward(inputs, self._maps(memory, len(model.widths)), SOURCE)

    def _follow(self, memory: Tensors, seen: list[Moments], samples: int) -> None:
        """Make a batch's moments part of the stream's."""
        known = float(memory["samples"]) + samples
        known = min(known, max(float(self.horizon_samples), samples))
        memory["samples"].fill_(known)
        for number, moments in enumerate(seen):
            for name, value in moments._asdict().items():
                memory[f"{name}.{number}"].lerp_(value, samples / known)

    def _maps(self, memory: Tensors, blocks: int) -> Tensors:
        """The matrix and shift of each block."""
        stream = [Moments(memory[f"mean.{n}"], memory[f"square.{n}"]) for n in range(blocks)]
        source = [
            Moments(memory[f"source_mean.{n}"], memory[f"source_square.{n}"]) for n in range(blocks)
        ]
        weights = shares([*map(shift, stream, source)])
        maps: Tensors = {}
        for number, weight in enumerate(weights):
            matrix, offset = alignment(stream[number], source[number], weight)
            maps |= {f"matrices.{number}": matrix, f"shifts.{number}": offset}
        return maps


def shift(stream: Moments, source: Moments) -> float:
    """How far means and variances have moved, in deviations and variances of the source."""
    variance = source.covariance.diagonal().clamp(min=1e-12)
    means = (stream.mean - source.mean).abs() / variance.sqrt()
    variances = (stream.covariance.diagonal() - variance).abs() / variance
    return float((means + variances).mean())


def shares(shifts: list[float]) -> list[float]:
    """Each block's weight: its shift, from 0 for the least to 1 for the largest (min-max)."""
    least, largest = min(shifts), max(shifts)
    if largest - least < 1e-6:
        return [0.0 for _ in shifts]
    return [(one - least) / (largest - least) for one in shifts]


def alignment(stream: Moments, source: Moments, weight: float) -> tuple[Tensor, Tensor]:
    """F @ matrix + shift = (1 - weight) F + weight Y, Y whitened by the stream and coloured.

    Y = (F - stream mean) stream covariance ** -1/2 source covariance ** 1/2 + source mean.
    """
    colour = root(stream.covariance, -0.5) @ root(source.covariance, 0.5)
    same = torch.eye(len(colour), dtype=colour.dtype, device=colour.device)
    matrix = (1 - weight) * same + weight * colour
    return matrix, weight * (source.mean - stream.mean @ colour)


def root(covariance: Tensor, power: float) -> Tensor:
    """A power of a covariance; directions with next to no variance have a little."""
    values, vectors = torch.linalg.eigh(covariance.double())
    least = LEAST_VARIANCE * values.mean().clamp(min=1e-12)
    scaled = vectors * (values.clamp(min=0) + least).pow(power)
    product: Tensor = scaled @ vectors.T
    return product.to(covariance.dtype)


def pea(
    *,
    source_data: SourceInputs | None = None,
    horizon_samples: int = 3200,
    prior_samples: int = 16,
) -> Method:
    """Map each block's embeddings to the source's mean and covariance; learn nothing.

    ``trimtab.adapt(trimtab.aligned(model), "pea", source_data=batches)``. A stream remembers two
    means and two covariances for each block.

    Args:
        source_data: Batches of source inputs, or (inputs, labels) pairs whose labels are not used.
        horizon_samples: From how many samples on moments move with the stream.
        prior_samples: For how many samples the source's moments count at the start.
    """
    learner = EmbeddingAlignment(horizon_samples, prior_samples, source_data)
    centering = FeatureCentering(horizon_samples, prior_samples, source_data)
    return Method((centering,), norm=SOURCE, learner=learner)
