"""What the test bed of priors asks for, and what it says of made-up errors."""

from dataclasses import replace

import pytest

from reproduce import made_up
from trimtab.reproduce.analysis import Analysis
from trimtab.reproduce.experiments.priors import EXPERIMENT
from trimtab.reproduce.setup import Setup, small
from trimtab.reproduce.simulation.cases import cases
from trimtab.reproduce.simulation.classifier import BY_DOMAIN
from trimtab.reproduce.simulation.orders import INDEPENDENT, ORDERS
from trimtab.reproduce.study import Record, Study

SETUP = small(Setup())


def analysed(
    independent: float, moving: float, ordered: float, changed: float = 0.0, later: float = 50.0
) -> Analysis:
    """Raw errors are 50 %; these are the errors with the prior."""

    def record(study: Study) -> Record:
        iid = moving if study.settings["favourites"] == BY_DOMAIN else independent
        return {
            order: {
                "raw": 50.0,
                "corrected": iid if order == INDEPENDENT else ordered,
                "later_raw": 50.0,
                "later_corrected": later,
                "changed": changed if order == INDEPENDENT else 100.0,
            }
            for order in study.settings["orders"]
        }

    return EXPERIMENT.analyse(made_up.findings(EXPERIMENT, SETUP, lambda spec: 0.5, record=record))


def verdicts(analysis: Analysis) -> list[bool | None]:
    return [claim.holds for claim in analysis.claims]


def test_a_prior_that_helps_and_never_harms_is_all_that_is_claimed() -> None:
    assert verdicts(analysed(50.3, 50.0, 20.0)) == [True] * 13


@pytest.mark.parametrize(
    ("errors", "failing"),
    [
        ((50.4, 50.0, 20.0), [0]),
        ((50.0, 50.4, 20.0), [1]),
        ((50.0, 50.0, 20.0, 1.0), [2]),
        ((50.0, 50.0, 20.0, 0.0, 50.4), [11]),
    ],
)
def test_harm_to_independent_samples_is_seen(errors: tuple[float, ...], failing: list[int]) -> None:
    found = verdicts(analysed(*errors))
    assert [number for number, holds in enumerate(found) if not holds] == failing


def test_a_prior_that_leaves_runs_alone_does_not_win_and_one_that_harms_is_named() -> None:
    assert verdicts(analysed(50.0, 50.0, 50.0)) == [True] * 3 + [False] * 8 + [True] * 2
    harmful = analysed(50.0, 50.0, 51.0)
    assert verdicts(harmful)[-1] is False
    runs = next(claim for claim in harmful.claims if "runs of 10," in claim.text)
    assert "lower for 0 of" in runs.numbers
    assert "+1.0" in runs.numbers


def test_tables_hold_raw_and_corrected_errors_of_every_model() -> None:
    errors, changed, *_ = analysed(50.0, 50.0, 20.0).tables
    assert errors.columns == changed.columns == tuple(ORDERS)
    numbers = {name: [number.value for number in row] for name, row in errors.rows}
    assert numbers["10 classes, fair, 75 %: raw"] == [50.0] * len(ORDERS)
    assert numbers["10 classes, fair, 75 %: prior"] == [50.0] + [20.0] * (len(ORDERS) - 1)
    assert None in numbers["2 classes, fair, 75 %: raw"], "there are no five of two classes"


def test_seeds_and_sizes_are_the_setups() -> None:
    setup = replace(Setup(), images_per_domain=100, batch_size=32, seeds=(4, 5))
    studies = EXPERIMENT.studies(setup)
    assert {study.settings["seed"] for study in studies} == {4, 5}
    assert {study.settings["samples"] for study in studies} == {150, 30}
    assert {study.settings["batch_size"] for study in studies} == {32, 1}
    assert len({study.id for study in studies}) == len(studies)


def test_in_a_hurry_there_are_fewer_classes() -> None:
    def most(setup: Setup) -> int:
        return max(case.classes for group in cases(setup).values() for case in group)

    assert (most(SETUP), most(Setup())) == (100, 21_841)
