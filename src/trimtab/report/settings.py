"""Experimental settings: what has to be equal for numbers to stand in one table or column."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from trimtab.bench.names import Identity, identity, scenario_title
from trimtab.bench.spec import RunSpec

SOURCE = '["source", {}]'
"""The identity of the source model's row."""

NO_LABELS: Mapping[Identity, str] = MappingProxyType({})


@dataclass(frozen=True)
class RunProtocol:
    """What all runs of a table share."""

    severity: int
    images_per_domain: int | None
    batch_size: int
    window: int | None

    @classmethod
    def of(cls, spec: RunSpec) -> "RunProtocol":
        """The protocol of a run."""
        return cls(spec.severity, spec.images_per_domain, spec.batch_size, spec.window)

    def __str__(self) -> str:
        images = "all images" if self.images_per_domain is None else f"{self.images_per_domain:,}"
        if self.images_per_domain is not None:
            images += " image" if self.images_per_domain == 1 else " images"
        words = [
            f"severity {self.severity}",
            f"{images} per domain",
            f"batches of {self.batch_size}",
        ]
        if self.window is not None:
            words.append(f"a window of {self.window}")
        return " · ".join(words)


@dataclass(frozen=True)
class Setting:
    """A column of a table: one model with one set of weights on one kind of stream."""

    data: str
    model: str
    scenario: str
    weights: str | None

    @classmethod
    def of(cls, spec: RunSpec) -> "Setting":
        """The setting of a run."""
        return cls(spec.data, spec.model, spec.scenario, spec.weights)

    @property
    def subject(self) -> "Subject":
        """The setting without its scenario."""
        return Subject(self.data, self.model, self.weights)

    @property
    def title(self) -> str:
        """The scenario for readers."""
        return scenario_title(self.scenario)

    @property
    def order(self) -> tuple[str, str, str, str]:
        """Sorts settings."""
        return (self.data, self.model, self.weights or "", self.scenario)


@dataclass(frozen=True)
class Subject:
    """A model with one set of weights, and the data it is tried on."""

    data: str
    model: str
    weights: str | None

    @property
    def short_weights(self) -> str:
        """The beginning of the weights' fingerprint."""
        return "unknown" if self.weights is None else self.weights[:8]


@dataclass(frozen=True)
class Row:
    """A row of a table: a method with its options.

    Args:
        label: As tables show it: short, with options only where two rows differ in them.
        identity: Two methods are the same if this is.
    """

    label: str = field(compare=False)
    identity: Identity

    @classmethod
    def of(cls, spec: RunSpec, labels: Mapping[Identity, str] = NO_LABELS) -> "Row":
        """The row of a run; ``labels`` are the short ones of all rows, or else it has all words."""
        return cls(labels.get(identity(spec), spec.label), identity(spec))

    @property
    def is_source(self) -> bool:
        """Whether this is the model as it came."""
        return self.identity == SOURCE
