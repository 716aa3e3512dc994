"""What changes along a stream and in what order classes come: one small frozen object each."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from trimtab.streams.corruptions.severity import SEVERITIES
from trimtab.streams.data import LabelledImages
from trimtab.streams.domains import CLEAN, Corrupted, Domains
from trimtab.streams.draws import generator
from trimtab.streams.order import order
from trimtab.streams.plan import Stretch, Visit, join, plain_stretch
from trimtab.streams.stream import Stream
from trimtab.streams.words import choice, parse, write


@dataclass(frozen=True)
class Scenario:
    """Domain after domain; the base of all scenarios.

    ``images_per_domain`` (None: all) are drawn anew for each visit of a domain, unless
    ``same_order`` shows the same images in the same order everywhere, as the reference protocol
    does. ``delta`` is the order of classes: None shuffles, 0 sorts by class, above 0 is the
    concentration of a Dirichlet distribution. ``str`` gives the text that ``scenario`` parses.
    """

    images_per_domain: int | None = None
    same_order: bool = False
    severity: int = 5
    delta: float | None = None

    word: ClassVar[str]
    resets: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.same_order, bool):
            raise ValueError(f"same_order must be True or False, got {self.same_order!r}")
        if self.severity not in SEVERITIES:
            raise ValueError(f"severity must be one of 1, 2, 3, 4, 5, got {self.severity!r}")
        count = self.images_per_domain
        if count is not None and not (isinstance(count, int) and count >= 1):
            raise ValueError(f"images_per_domain must be a whole number from 1, got {count!r}")
        if self.delta is not None and not 0 <= self.delta < float("inf"):
            raise ValueError(f"delta must be 0 or more, got {self.delta}")

    def __str__(self) -> str:
        changed = {
            field.name: getattr(self, field.name)
            for field in fields(self)
            if getattr(self, field.name) != field.default
        }
        return write(self.word, changed)

    def visits(self, names: Sequence[str]) -> list[Visit]:
        """The stretches of the stream in their order."""
        return [Visit(name, self.severity) for name in names]

    def stretches(self, domains: Domains, names: Sequence[str], seed: int) -> list[Stretch]:
        """What is shown, cut where a batch has to end."""
        visits = self.visits(domains.names)
        return [self._visit(domains, names, seed, n, visit) for n, visit in enumerate(visits)]

    def stream(
        self,
        images: LabelledImages | Domains,
        *,
        seed: int = 0,
        batch_size: int = 64,
        severity: int | None = None,
        images_per_domain: int | None = None,
    ) -> Stream:
        """Batches of ``images``: clean ones become the fifteen benchmark domains on the way.

        ``severity`` and ``images_per_domain``, where given, replace the scenario's own.
        """
        chosen = replace(
            self,
            severity=self.severity if severity is None else severity,
            images_per_domain=images_per_domain or self.images_per_domain,
        )
        domains = Corrupted(images) if isinstance(images, LabelledImages) else images
        visited = {visit.domain for visit in chosen.visits(domains.names)}
        names = (*domains.names, *((CLEAN,) if CLEAN in visited else ()))
        stretches = tuple(chosen.stretches(domains, names, seed))
        return Stream(domains, names, stretches, batch_size, seed, chosen.resets)

    def _visit(
        self, domains: Domains, names: Sequence[str], seed: int, number: int, visit: Visit
    ) -> Stretch:
        image = self._images(domains, seed, number, visit.domain, self.delta)
        return plain_stretch(image, names.index(visit.domain), visit.severity, visit.starts_domain)

    def _images(
        self, domains: Domains, seed: int, number: int, domain: str, delta: float | None
    ) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        labels = domains.labels(domain)
        if self.images_per_domain is not None and self.images_per_domain > len(labels):
            raise ValueError(
                f"images_per_domain is {self.images_per_domain}, "
                f"but {domain} has {len(labels)} images"
            )
        purpose = "order" if self.same_order else f"order/{number}"
        drawn = order(labels, None, seed, purpose)[: self.images_per_domain]
        if delta is None:
            return drawn
        return drawn[order(labels[drawn], delta, seed, f"{purpose}/classes")]


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
    """One domain only: ``domain``, or the first."""

    domain: str | None = None
    word: ClassVar[str] = "single"

    def visits(self, names: Sequence[str]) -> list[Visit]:
        name = names[0] if self.domain is None else choice("domain", self.domain, (*names, CLEAN))
        return [Visit(name, self.severity)]


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
        if not (isinstance(self.rounds, int) and self.rounds >= 1):
            raise ValueError(f"rounds must be a whole number from 1, got {self.rounds!r}")

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
                self._images(domains, seed, number, visit.domain, None),
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


SCENARIOS: dict[str, type[Scenario]] = {
    kind.word: kind
    for kind in (
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
    )
}


def scenario(text: str) -> Scenario:
    """The scenario that ``text`` describes, such as ``mixed_correlated(delta=0.01)``."""
    name, settings = parse(text)
    kind = SCENARIOS[choice("scenario", name, SCENARIOS)]
    known = [field.name for field in fields(kind)]
    for key in settings:
        choice(f"setting of {name}", key, known)
    try:
        return kind(**settings)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"a setting in {text!r} has a value of the wrong kind: {error}") from error
