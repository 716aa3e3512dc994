"""Streams of a leaderboard: what has to be equal for two runs to have seen the same samples."""

from collections.abc import Iterable
from dataclasses import dataclass

from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.bench.titles import data_title, model_title
from trimtab.report.settings import RunProtocol, Setting


@dataclass(frozen=True)
class BoardStream:
    """One network on one stream: the spec of a run without its method.

    Args:
        place: Data, model and scenario; its weights are left open.
        protocol: Severity, images per domain, batch size and window.
        seed: Of the stream.
    """

    place: Setting
    protocol: RunProtocol
    seed: int

    @classmethod
    def of(cls, spec: RunSpec) -> "BoardStream":
        """The stream of a run."""
        place = Setting(spec.data, spec.model, spec.scenario, None)
        return cls(place, RunProtocol.of(spec), spec.seed)

    def __str__(self) -> str:
        return f"{place_name(self.place)}, seed {self.seed} ({self.protocol})"


def place_name(place: Setting) -> str:
    """Data, network and scenario for readers."""
    return f"{data_title(place.data)} · {model_title(place.model)} · {place.title}"


def board_streams(specs: Iterable[RunSpec]) -> tuple[BoardStream, ...]:
    """Each stream of a suite once, in its order."""
    return tuple(dict.fromkeys(BoardStream.of(spec) for spec in specs))


@dataclass(frozen=True)
class Facts:
    """What a run says of its stream, and any other run of the same stream has to say, too.

    Args:
        weights: Fingerprint of the network's weights.
        samples: How many there were.
        labels: How often each class was there.
        source_error: Of the source model on them, in %.
    """

    weights: str | None
    samples: int
    labels: tuple[int, ...]
    source_error: float

    @classmethod
    def of(cls, run: RunResult) -> "Facts":
        """Those of a run that is done."""
        if run.scores is None:
            raise ValueError(f"run {run.spec.id} failed and says nothing of its stream")
        scores = run.scores
        labels = tuple(scores.labels)
        return cls(run.spec.weights, scores.samples, labels, 100 * scores.source_error)

    def differs(self, other: "Facts", tolerance: float) -> str | None:
        """Why the two cannot be of one stream, None if they can.

        Args:
            other: What was agreed on.
            tolerance: Points by which the source model's error may differ: machines round
                differently.
        """
        if self.weights != other.weights:
            return f"other weights: {_short(self.weights)} and not {_short(other.weights)}"
        if self.samples != other.samples:
            return f"other samples: {self.samples:,} and not {other.samples:,}"
        if self.labels != other.labels:
            return "other samples: the classes are not as often there"
        if abs(self.source_error - other.source_error) > tolerance:
            return (
                f"the source model has {self.source_error:.1f} % error and not "
                f"{other.source_error:.1f} %: another network or other images"
            )
        return None


def _short(weights: str | None) -> str:
    return "unknown ones" if weights is None else weights[:8]
