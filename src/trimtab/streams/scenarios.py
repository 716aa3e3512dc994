"""Scenarios: continual, mixed, non-i.i.d. and other streams, one small frozen object each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trimtab.core.spec import choice, single_term
from trimtab.registry import Registry
from trimtab.streams.domains import CLEAN, Corrupted, Domains
from trimtab.streams.draws import generator
from trimtab.streams.order import order
from trimtab.streams.plan import Stretch, Visit, join, plain_stretch
from trimtab.streams.scenario_base import Scenario
from trimtab.streams.walk import Walk


@dataclass(frozen=True)
class Continual(Scenario):
    """Domain after domain, never told when one ends."""

    word: ClassVar[str] = "continual"


@dataclass(frozen=True)
class ResetEachShift(Scenario):
    """Domain after domain; the adapter is reset at the start of each."""

    word: ClassVar[str] = "reset_each_shift"
    resets: ClassVar[bool] = True


@dataclass(frozen=True)
class Correlated(Scenario):
    """Domain after domain, class after class within each."""

    delta: float | None = 0.0
    word: ClassVar[str] = "correlated"


@dataclass(frozen=True)
class Single(Scenario):
    """One domain only: ``domain``, or the first. Its images come ``rounds`` times, drawn anew."""

    domain: str | None = None
    rounds: int = 1
    word: ClassVar[str] = "single"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rounds(self.rounds)

    def visits(self, names: Sequence[str]) -> list[Visit]:
        name = names[0] if self.domain is None else choice("domain", self.domain, (*names, CLEAN))
        return [Visit(name, self.severity, starts_domain=n == 0) for n in range(self.rounds)]


@dataclass(frozen=True)
class Gradual(Scenario):
    """Each domain rises from severity 1 to ``severity`` and falls back to 1."""

    word: ClassVar[str] = "gradual"

    def visits(self, names: Sequence[str]) -> list[Visit]:
        rising = range(1, self.severity + 1)
        levels = [*rising, *reversed(rising[:-1])]
        return [
            Visit(name, level, starts_domain=place == 0)
            for name in names
            for place, level in enumerate(levels)
        ]


@dataclass(frozen=True)
class Recurring(Scenario):
    """The whole sequence of domains ``rounds`` times."""

    rounds: int = 2
    word: ClassVar[str] = "recurring"

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_rounds(self.rounds)

    def visits(self, names: Sequence[str]) -> list[Visit]:
        return super().visits(names) * self.rounds


@dataclass(frozen=True)
class Alternating(Scenario):
    """Each domain followed by clean images: what is forgotten of the source?"""

    word: ClassVar[str] = "alternating"

    def visits(self, names: Sequence[str]) -> list[Visit]:
        clean = Visit(CLEAN, 0)
        return [visit for name in names for visit in (Visit(name, self.severity), clean)]


@dataclass(frozen=True)
class Mixed(Scenario):
    """All domains at once: ``images_per_domain`` of each, shuffled together."""

    word: ClassVar[str] = "mixed"

    def stretches(self, domains: Domains, names: Sequence[str], seed: int) -> list[Stretch]:
        parts = [
            plain_stretch(
                self.images_of(domains, seed, number, visit.domain, None),
                names.index(visit.domain),
                visit.severity,
                starts_domain=True,
            )
            for number, visit in enumerate(self.visits(domains.names))
        ]
        everything = join(parts)
        labels = np.concatenate(
            [domains.labels(names[part.domain[0]])[part.image] for part in parts]
        )
        return [everything.part(order(labels, self.delta, seed, "mixed"))]


@dataclass(frozen=True)
class MixedCorrelated(Mixed):
    """All domains at once, class after class."""

    delta: float | None = 0.0
    word: ClassVar[str] = "mixed_correlated"


@dataclass(frozen=True)
class Drifting(Scenario):
    """Kind and severity drift: each domain fades out while the next one rises above it.

    The fading takes the last ``overlap`` of a domain's images, which then carry both corruptions.
    A severity between two levels is met on average: 2.3 is level 3 for 30 % of the images.
    As in CCC (Press et al., NeurIPS 2023, arXiv:2306.05401), without its calibrated difficulty.
    """

    overlap: float = 0.5
    word: ClassVar[str] = "drifting"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.overlap <= 1:
            raise ValueError(f"overlap must lie in (0, 1], got {self.overlap}")

    def stretches(self, domains: Domains, names: Sequence[str], seed: int) -> list[Stretch]:
        if not isinstance(domains, Corrupted):
            raise ValueError("drifting needs clean images that it can corrupt, not stored domains")
        plain = super().stretches(domains, names, seed)
        followers = [*plain[1:], None]
        drifting = [
            part if after is None else self._fade(part, int(after.domain[0]), seed)
            for part, after in zip(plain, followers, strict=True)
        ]
        return [join(drifting)]

    def _fade(self, part: Stretch, following: int, seed: int) -> Stretch:
        count = len(part)
        progress = (np.arange(count) / count - (1 - self.overlap)) / self.overlap
        rising = self.severity * np.clip(progress, 0, 1)
        dither = generator(seed, f"drift/{following}").random(count)
        second = np.floor(rising + dither).astype(np.int64)
        first = np.floor(self.severity - rising + dither).astype(np.int64).clip(max=self.severity)
        stays, other = first >= second, np.full(count, following)
        return Stretch(
            part.image,
            np.where(stays, part.domain, other),
            np.where(stays, first, second),
            np.where(stays, other, part.domain),
            np.where(stays, second, first),
        )


def _check_rounds(rounds: int) -> None:
    if not (isinstance(rounds, int) and rounds >= 1):
        raise ValueError(f"rounds must be a whole number from 1, got {rounds!r}")


_OWN = (
    Continual,
    ResetEachShift,
    Correlated,
    Single,
    Gradual,
    Recurring,
    Alternating,
    Mixed,
    MixedCorrelated,
    Drifting,
    Walk,
)

SCENARIOS: Registry[type[Scenario]] = Registry("scenario", {kind.word: kind for kind in _OWN})


def scenario(text: str) -> Scenario:
    """The scenario that ``text`` describes, such as ``mixed_correlated(delta=0.01)``."""
    term = single_term(text)
    try:
        made = SCENARIOS.make(term.name, term.arguments)
    except TypeError as error:
        raise ValueError(f"a setting in {text!r} has a value of the wrong kind: {error}") from error
    if not isinstance(made, Scenario):
        raise ValueError(f"{term.name} must return a Scenario, got {made!r}")
    return made
