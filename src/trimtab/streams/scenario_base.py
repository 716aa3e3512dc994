"""What all scenarios share: their settings, their text, and the way to a stream."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar

from trimtab.core.ranges import check_severity
from trimtab.core.spec import written
from trimtab.streams.data import Indices, LabelledImages
from trimtab.streams.domains import CLEAN, Corrupted, Domains
from trimtab.streams.order import order
from trimtab.streams.plan import Stretch, Visit, plain_stretch
from trimtab.streams.stream import Stream


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
        check_severity(self.severity)
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
        return written(self.word, changed)

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
            images_per_domain=(
                self.images_per_domain if images_per_domain is None else images_per_domain
            ),
        )
        domains = Corrupted(images) if isinstance(images, LabelledImages) else images
        visited = {visit.domain for visit in chosen.visits(domains.names)}
        names = (*domains.names, *((CLEAN,) if CLEAN in visited else ()))
        stretches = tuple(chosen.stretches(domains, names, seed))
        return Stream(domains, names, stretches, batch_size, seed, chosen.resets)

    def _visit(
        self, domains: Domains, names: Sequence[str], seed: int, number: int, visit: Visit
    ) -> Stretch:
        image = self.images_of(domains, seed, number, visit.domain, self.delta)
        return plain_stretch(image, names.index(visit.domain), visit.severity, visit.starts_domain)

    def images_of(
        self, domains: Domains, seed: int, number: int, domain: str, delta: float | None
    ) -> Indices:
        """Numbers of the images that a visit shows, in their order."""
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
