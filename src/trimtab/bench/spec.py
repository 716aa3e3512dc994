"""Run specification: everything that decides a run's numbers, and an id made of it."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from trimtab.bench.typed import check_fields, shown
from trimtab.core.ranges import check_counts, check_severity
from trimtab.core.spec import unknown

LONGEST_NAME = 2000
"""Most characters of a method, model, dataset or scenario, options included."""

NEEDED = ("method", "model", "data", "scenario")


@dataclass(frozen=True)
class RunSpec:
    """One method on one stream.

    Args:
        method: A name or a composition, as ``trimtab.adapt`` takes it.
        options: Options of the method, and ``guard``.
        model: A name of the table of models.
        weights: Fingerprint of the model's weights; filled in when suites are expanded.
        data: Labelled images, by name.
        scenario: Words of a scenario, such as ``mixed_correlated(delta=0.01)``.
        images_per_domain: None takes all.
        window: Samples an update of streams of small batches; None learns from every batch.
        seed: Decides the stream and the method's draws.
    """

    method: str
    model: str
    data: str
    scenario: str
    options: Mapping[str, Any] = field(default_factory=dict)
    weights: str | None = None
    severity: int = 5
    images_per_domain: int | None = None
    batch_size: int = 64
    window: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_fields(RunSpec, vars(self))
        for name in NEEDED:
            if not 1 <= len(getattr(self, name)) <= LONGEST_NAME:
                raise ValueError(
                    f"{name} must have 1 to {LONGEST_NAME:,} characters, "
                    f"got {len(getattr(self, name)):,}"
                )
        check_counts(self, "batch_size", "images_per_domain", "window")
        check_severity(self.severity)
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must lie in [0, 2**63), got {shown(self.seed)}")

    @property
    def id(self) -> str:
        """The same for equal specs, on every machine: 16 hexadecimal digits."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()[:16]

    @property
    def label(self) -> str:
        """The method as a table shows it: its options behind it, where there are any."""
        options = ", ".join(f"{name}={value!r}" for name, value in sorted(self.options.items()))
        return f"{self.method}({options})" if options else self.method

    @property
    def command(self) -> str:
        """The command line that does this run again."""
        words = ["trimtab", "run"]
        for name, value in self.to_json().items():
            default = _DEFAULTS.get(name)
            if name == "options":
                words += [f"--option={key}={json.dumps(v)}" for key, v in sorted(value.items())]
            elif name != "weights" and value != default:
                words += [f"--{name.replace('_', '-')}", str(value)]
        return shlex.join(words)

    def canonical(self) -> str:
        """JSON with sorted keys and no spaces."""
        return json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))

    def to_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"options": dict(self.options)}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "RunSpec":
        """What ``to_json`` wrote; keys that are not known are refused."""
        known = {f.name for f in fields(cls)}
        for strange in sorted(set(values) - known):
            raise ValueError(unknown("field of a run", strange, sorted(known)))
        missing = [f.name for f in fields(cls) if f.name in NEEDED and f.name not in values]
        if missing:
            raise ValueError(f"a run needs a value for {', '.join(missing)}")
        return cls(**values)


_DEFAULTS: dict[str, Any] = {
    f.name: f.default for f in fields(RunSpec) if f.name not in ("options",)
}
