"""Contrastive learning with class prototypes (RMT, arXiv:2211.13081; SANTA)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import linear, normalize

from trimtab.augment import Augment, ColorAffineBlurNoise, augmented
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, Start, Step
from trimtab.core.linear_head import width_of_features
from trimtab.core.ranges import check_positive
from trimtab.core.source_data import SourceData, labelled


@dataclass(frozen=True)
class PrototypeContrast(Objective):
    """Pull a sample's features, those of its view and its nearest prototype together.

    All three pass a small projector that is trained along; every other sample's three are pushed
    away. With source data a prototype is the mean of a class's features, normalised as the stream
    is, and classes that do not occur have none. Without, it is the class's row of the classifier's
    weights, given the length of the feature it is compared with: a row tells a direction only.

    Args:
        source_data: Batches of source inputs and labels, or None.
        temperature: Of the similarities.
        width: Of the projector's two layers.
        max_source_samples: After how many source samples the means are good enough.
        augment: Makes the augmented view; None takes CoTTA's.
    """

    source_data: SourceData | None = field(default=None, compare=False)
    temperature: float = 0.1
    width: int = 128
    max_source_samples: int = 100_000
    augment: Augment | None = None

    not_dense = "compares features with one prototype per class, and pixels have no features"

    def __post_init__(self) -> None:
        check_positive(self, "temperature")

    def new_memory(self, start: Start) -> Tensors:
        """Prototypes (classes, features) and the projector's weights, which are trained."""
        width = width_of_features(start, self.name)
        prototypes = self._classifier_rows(start)
        if self.source_data is not None:
            prototypes = self._class_means(self.source_data, start)
        return {"prototypes": prototypes, **new_projector(start, width, self.width)}

    def _classifier_rows(self, start: Start) -> Tensor:
        weight = getattr(start.backbone.classifier, "weight", None)
        expected = (start.num_classes, start.num_features)
        if self.source_data is None and (weight is None or tuple(weight.shape) != expected):
            raise ValueError(
                f"the classifier has no weights of shape {expected} to serve as prototypes; "
                "pass source_data= to take class means instead"
            )
        return torch.empty(0) if weight is None else weight.detach().float()

    @torch.no_grad()
    def _class_means(self, source_data: SourceData, start: Start) -> Tensor:
        sums = torch.zeros(start.num_classes, start.num_features or 0, device=start.device)
        counts = torch.zeros(start.num_classes, device=start.device)
        for inputs, labels in labelled(source_data, start.num_classes):
            features = start.forward(inputs.to(start.device, start.backbone.dtype)).features
            assert features is not None  # the stream has found a classifier
            sums.index_add_(0, labels.to(start.device), features.to(sums))
            counts += labels.bincount(minlength=start.num_classes).to(counts)
            if counts.sum() > self.max_source_samples:
                break
        return sums[counts > 0] / counts[counts > 0, None]

    @property
    def shared_view(self) -> Augment:
        return self.augment or ColorAffineBlurNoise()

    def views(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        return augmented(self.shared_view, inputs, generator)

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        features, of_view = step.features, step.forward_view(self.name).features
        assert of_view is not None
        prototypes = memory["prototypes"].to(features)
        with torch.no_grad():
            directions = normalize(prototypes, dim=1)
            nearest = (normalize(features, dim=1) @ directions.T).argmax(1)
            chosen = prototypes[nearest]
            if self.source_data is None:
                chosen = directions[nearest] * features.norm(dim=1, keepdim=True)
        projected = project(torch.stack([chosen, features, of_view], 1), memory)
        return contrast(normalize(projected, dim=2), self.temperature)


def new_projector(start: Start, features: int, width: int) -> Tensors:
    """Weights of two linear layers, drawn as torch draws them."""
    layers: Tensors = {}
    for name, size in (("0", features), ("2", width)):
        for part, shape in (("weight", (width, size)), ("bias", (width,))):
            drawn = (2 * torch.rand(shape, generator=start.generator) - 1) / size**0.5
            layers[f"projector.{name}.{part}"] = drawn.to(start.device).requires_grad_()
    return layers


def project(features: Tensor, memory: Tensors) -> Tensor:
    """Linear, ReLU, linear."""
    weights = {name: tensor.to(features.dtype) for name, tensor in memory.items()}
    hidden = linear(features, weights["projector.0.weight"], weights["projector.0.bias"]).relu()
    return linear(hidden, weights["projector.2.weight"], weights["projector.2.bias"])


def contrast(embeddings: Tensor, temperature: float) -> Tensor:
    """Supervised contrastive loss of each sample, shape (batch,).

    Every embedding has to find the others of its sample among all embeddings but itself.

    Args:
        embeddings: Of length one, shape (batch, views, width).
    """
    batch, views, _ = embeddings.shape
    flat = embeddings.flatten(0, 1)
    itself = torch.eye(len(flat), dtype=torch.bool, device=flat.device)
    samples = torch.arange(batch, device=flat.device).repeat_interleave(views)
    positive = (samples[:, None] == samples) & ~itself
    similarity = (flat @ flat.T / temperature).masked_fill(itself, -torch.inf)
    log_probs = similarity.log_softmax(1).masked_fill(~positive, 0)
    return -(log_probs.sum(1) / (views - 1)).view(batch, views).mean(1)
