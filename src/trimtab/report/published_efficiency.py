"""What methods cost and how much memory they take in the ROID paper."""

from collections.abc import Mapping
from dataclasses import dataclass

from trimtab.report.published import tables


@dataclass(frozen=True)
class PublishedCost:
    """Passes per sample, and the share of the parameters that are trained, in %."""

    forwards: float
    backwards: float
    trained: float


def published_cost(method: str) -> PublishedCost | None:
    """What a method costs in the paper, which has it for a ResNet-50 on ImageNet-R."""
    table = tables()["cost"]
    found = table["methods"].get(method)
    if found is None:
        return None
    samples = table["samples"]
    return PublishedCost(
        found["forwards"] / samples, found["backwards"] / samples, found["trained"]
    )


def published_memory(model: str, method: str) -> Mapping[str, float] | None:
    """Memory in GB and error in % on ImageNet-R: ``batch``, ``single``, each with ``_error``."""
    found: Mapping[str, float] | None = (
        tables()["memory"].get(model.partition("@")[0], {}).get(method)
    )
    return found
