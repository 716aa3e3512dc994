"""Continuously changing corruptions of equal difficulty (CCC, Press et al., arXiv:2306.05401)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trimtab.core.spec import choice
from trimtab.streams import calibration
from trimtab.streams.data import Indices
from trimtab.streams.domains import Corrupted, Domains
from trimtab.streams.draws import generator
from trimtab.streams.order import order
from trimtab.streams.plan import Stretch
from trimtab.streams.scenario_base import Scenario

DIFFICULTIES = {"easy": 0.75, "medium": 0.5, "hard": 0.25}
"""Share of the way from chance to clean accuracy at which the source model stays."""
SPEEDS = {"fast": 1, "medium": 2, "slow": 5}
"""Images from one corruption to the next, in multiples of ``images_per_domain``."""


@dataclass(frozen=True)
class Walk(Scenario):
    """From corruption to corruption by pairs, while the source model's accuracy stays the same.

    Each leg goes from one corruption, over both at once, to the next one. Which severities leave
    the source model's accuracy where it is, its calibration says; a severity between two levels is
    met on average. ``images_per_domain`` times the speed's factor are shown on a leg; images come
    again once all were shown.

    Args:
        calibration: Name of a shipped network, or a file by ``calibration.measure``.
        difficulty: ``"easy"``, ``"medium"`` or ``"hard"``: the source keeps 3/4, 1/2 or 1/4 of what
            its clean accuracy is above chance.
        speed: ``"fast"``, ``"medium"`` or ``"slow"``: 1, 2 or 5 times ``images_per_domain``.
        legs: Pairs that are walked through; the seed decides where the walk begins.
    """

    calibration: str = ""
    difficulty: str = "medium"
    speed: str = "medium"
    legs: int = 15
    word: ClassVar[str] = "walk"

    def __post_init__(self) -> None:
        super().__post_init__()
        choice("difficulty", self.difficulty, DIFFICULTIES)
        choice("speed", self.speed, SPEEDS)
        if not (isinstance(self.legs, int) and self.legs >= 1):
            raise ValueError(f"legs must be a whole number from 1, got {self.legs!r}")
        if not self.calibration:
            raise ValueError(
                "walk needs calibration=, the name of a shipped network or a file by "
                "trimtab.streams.calibration.measure"
            )

    def stretches(self, domains: Domains, names: Sequence[str], seed: int) -> list[Stretch]:
        if not isinstance(domains, Corrupted):
            raise ValueError("walk needs clean images that it can corrupt, not stored domains")
        measured = calibration.load(self.calibration)
        missing = {name for pair in measured.pairs for name in pair} - set(names)
        if missing:
            raise ValueError(
                f"the calibration has {', '.join(sorted(missing))}, and the stream does not"
            )
        first = int(generator(seed, "walk").integers(len(measured.pairs)))
        target = measured.target(DIFFICULTIES[self.difficulty])
        found = []
        for leg in range(self.legs):
            pair = measured.pairs[(first + leg) % len(measured.pairs)]
            image = self._drawn(domains, seed, leg)
            severities = measured.severities(pair, target, len(image))
            dither = generator(seed, f"walk/{leg}").random(severities.shape)
            levels = np.floor(severities + dither).astype(np.int64)
            under, above = (np.full(len(image), names.index(name)) for name in pair)
            low, high = levels.clip(max=calibration.LEVELS - 1).T
            found.append(Stretch(image, under, low, above, high))
        return found

    def _drawn(self, domains: Corrupted, seed: int, leg: int) -> Indices:
        """Numbers of a leg's images, drawn anew each time that all were shown."""
        labels = domains.clean.labels
        wanted = (self.images_per_domain or len(labels)) * SPEEDS[self.speed]
        rounds = -(-wanted // len(labels))
        drawn = [order(labels, None, seed, f"walk/order/{leg}/{n}") for n in range(rounds)]
        image = np.concatenate(drawn)[:wanted]
        if self.delta is None:
            return image
        return image[order(labels[image], self.delta, seed, f"walk/classes/{leg}")]
