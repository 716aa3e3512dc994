"""Which models are simulated in the test bed of output rules, and in which orders of classes."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trimtab.reproduce.setup import Setup
from trimtab.reproduce.simulation.classifier import BY_DOMAIN, FAIR, FAVOURITES, FEW, MANY
from trimtab.reproduce.simulation.orders import BEGINS, ENDS, INDEPENDENT, ORDERS, SETS
from trimtab.reproduce.studies.priors import code_of
from trimtab.reproduce.study import Study

RULE = "temporal_prior"
CLASSES = (2, 10, 100, 1000)
MANY_CLASSES = 21_841
"""Of ImageNet-21k."""
FEW_CLASSES = 100
"""More are left out in a hurry."""
ACCURACY = 0.75
OTHER_ACCURACIES = (0.2, 0.5, 0.9)
OVERCONFIDENT = 2.0
LENGTH = 1.5
"""Samples of a stream, in images per domain of the setup."""


class Case(NamedTuple):
    """A simulated model, and the orders in which it sees classes."""

    classes: int
    favourites: str
    orders: tuple[str, ...]
    accuracy: float = ACCURACY
    confidence: float = 1.0
    single: bool = False
    """Whether samples come one by one, not in batches."""
    length: float = LENGTH

    @property
    def label(self) -> str:
        """The model in words."""
        return f"{self.classes:,} classes, {self.favourites}, {100 * self.accuracy:.0f} %"

    @property
    def full_label(self) -> str:
        """The model, and how its samples come."""
        confident = "" if self.confidence == 1 else ", overconfident"
        return f"{self.label}{confident}{', single samples' if self.single else ''}"

    def studies(self, setup: Setup) -> list[Study]:
        """One for each seed."""
        settings = {
            "rule": RULE,
            "code": code_of(RULE),
            "classes": self.classes,
            "accuracy": self.accuracy,
            "favourites": self.favourites,
            "confidence": self.confidence,
            "orders": self.orders,
            "samples": round(self.length * (setup.images_per_domain or 1000)),
            "batch_size": 1 if self.single else setup.batch_size,
        }
        return [Study("priors", settings | {"seed": seed}) for seed in setup.seeds]


def cases(setup: Setup) -> Mapping[str, Sequence[Case]]:
    """The grid, by the title of the table that shows it."""
    most = FEW_CLASSES if setup.quick else MANY_CLASSES
    groups = {
        f"calibrated models, {100 * ACCURACY:.0f} % right without bias": _main(),
        "overconfident models, their temperature halved": _overconfident(),
        "models of other accuracies": _other_accuracies(),
        "single samples, and very many classes": _special(),
    }
    return {title: [c for c in found if c.classes <= most] for title, found in groups.items()}


def _main() -> list[Case]:
    return [
        Case(classes, favourites, _possible(classes, tuple(ORDERS)))
        for classes in CLASSES
        for favourites in FAVOURITES
        if (classes, favourites) != (2, MANY)
    ]


def _overconfident() -> list[Case]:
    orders = (INDEPENDENT, "runs of 10", SETS[0], BEGINS, ENDS)
    return [
        Case(classes, favourites, _possible(classes, orders), confidence=OVERCONFIDENT)
        for classes in CLASSES
        for favourites in (FAIR, FEW, BY_DOMAIN)
    ]


def _other_accuracies() -> list[Case]:
    orders = (INDEPENDENT, "runs of 3", "runs of 30", SETS[0])
    return [
        Case(classes, favourites, _possible(classes, orders), accuracy)
        for classes in CLASSES
        for accuracy in OTHER_ACCURACIES
        for favourites in (FAIR, FEW)
        if accuracy > 1 / classes
    ]


def _special() -> list[Case]:
    orders = (INDEPENDENT, "runs of 10")
    return [
        Case(10, FEW, orders, single=True),
        Case(100, BY_DOMAIN, orders, single=True),
        Case(MANY_CLASSES, FEW, orders, length=LENGTH / 5),
    ]


def _possible(classes: int, orders: tuple[str, ...]) -> tuple[str, ...]:
    """Without sets of five where there are no five classes."""
    return tuple(order for order in orders if classes >= 5 or order not in SETS)
