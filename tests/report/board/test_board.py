"""The leaderboard: who is where, and what is refused for which reason."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from report import stores
from trimtab.bench.result import RunResult, Scores
from trimtab.bench.submission import Submission
from trimtab.report.board.standings import Board, board
from trimtab.report.board.streams import board_streams

SOURCE = {"continual": 0.5, "mixed": 0.4}
SAFE = {"continual": 0.4, "mixed": 0.35}
BOLD = {"continual": 0.1, "mixed": 0.41}


def runs(method: str, errors: dict[str, float]) -> list[RunResult]:
    """Whole numbers: flips fit the errors, as they do where they were counted."""
    return [
        stores.done(
            stores.spec(method, scenario=scenario, seed=seed),
            error,
            source_error=SOURCE[scenario],
            negative_flips=max(0.0, error - SOURCE[scenario]),
            positive_flips=max(0.0, SOURCE[scenario] - error),
        )
        for scenario, error in errors.items()
        for seed in (0, 1)
    ]


def submission(by: str, *groups: list[RunResult]) -> Submission:
    return Submission("a board", by, tuple(run for group in groups for run in group))


STREAMS = board_streams(run.spec for run in runs("source", SOURCE))
ADA = submission("Ada", runs("source", SOURCE), runs("roid", SAFE))
BOB = submission("Bob", runs("tent", BOLD))


def made(**given: Submission) -> Board:
    return board({f"{name}.json": one for name, one in given.items()}, STREAMS, 0.2)


def changed(one: Submission, change: Callable[[RunResult], RunResult]) -> Submission:
    return replace(one, results=tuple(map(change, one.results)))


def with_scores(**values: object) -> Callable[[RunResult], RunResult]:
    def change(run: RunResult) -> RunResult:
        assert isinstance(run.scores, Scores)
        return replace(run, scores=replace(run.scores, **values))  # type: ignore[arg-type]

    return change


def test_the_two_orders_differ() -> None:
    found = made(ada=ADA, bob=BOB)
    assert [(e.label, e.worst_change, e.mean_error) for e in found.entries] == [
        ("ROID", -5.0, 37.5),
        ("TENT", 1.0, 25.5),
    ]
    assert [found.rank_by_worst(e) for e in found.entries] == [1, 2]
    assert [found.rank_by_mean(e) for e in found.entries] == [2, 1]
    assert found.refusals == ()
    assert {place.scenario: error for place, error in found.source.items()} == {
        "continual": 50.0,
        "mixed": 40.0,
    }


def test_what_reads_equal_has_one_place() -> None:
    same = replace(ADA, by="Cid")
    found = made(ada=ADA, cid=same)
    assert [found.rank_by_worst(entry) for entry in found.entries] == [1, 1]
    assert [entry.by for entry in found.entries] == ["Ada", "Cid"]


def refusal(one: Submission) -> str:
    """Why Bob's submission is refused beside two of Ada's kind."""
    found = made(ada=ADA, again=replace(ADA, by="Cid"), bob=one)
    assert {entry.by for entry in found.entries} == {"Ada", "Cid"}
    [refused] = found.refusals
    assert refused.file == "bob.json"
    return refused.why


def test_a_method_that_lacks_a_stream_is_refused() -> None:
    why = refusal(replace(BOB, results=BOB.results[:-1]))
    assert why.startswith("no run on 1 of the board's 4 streams: shapes · tiny · mixed, seed 1")


def test_other_seeds_and_protocols_are_refused() -> None:
    for field, value in {"seed": 9, "severity": 3, "batch_size": 1, "window": 8}.items():
        change: dict[str, Any] = {field: value}
        other = changed(BOB, lambda run: replace(run, spec=replace(run.spec, **change)))  # noqa: B023
        assert refusal(other).startswith("none of its runs is of a stream of the board")


def test_the_source_gate_refuses_another_network_or_other_images() -> None:
    why = refusal(
        changed(BOB, lambda run: with_scores(source_error=run.scores.source_error - 0.01,
                                             negative_flips=run.scores.negative_flips + 0.01)(run)
                if run.scores else run)
    )  # fmt: skip
    assert "the source model has 49.0 % error and not 50.0 %" in why


def test_a_rounding_of_the_source_error_passes_the_gate() -> None:
    near = changed(
        BOB,
        lambda run: with_scores(
            source_error=(run.scores.source_error if run.scores else 0) - 0.001,
            negative_flips=(run.scores.negative_flips if run.scores else 0) + 0.001,
        )(run),
    )
    assert not made(ada=ADA, again=replace(ADA, by="Cid"), bob=near).refusals


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"negative_flips": 0.3}, "the error is not the source model's with the flips"),
        ({"predicted": [1, 2]}, "not every sample has a prediction"),
        ({"labels": [1, 2]}, "not every sample has a label"),
        ({"domain_error": 0.01}, "the mean of the domains' errors is another"),
        ({"samples": 500, "predicted": [250, 250], "labels": [250, 250]}, "other samples: 500"),
        ({"labels": [299, 301]}, "the classes are not as often there"),
        ({"samples": 7, "predicted": [3, 4], "labels": [3, 4]}, "no count of samples"),
    ],
)
def test_numbers_that_cannot_be_are_refused(values: dict[str, object], why: str) -> None:
    assert why in refusal(changed(BOB, with_scores(**values)))


def test_shares_of_pixels_are_counted_by_pixels() -> None:
    counts = {"predicted": [3000, 7000], "labels": [4000, 6000], "miou": 0.4}
    ada, bob = (changed(one, with_scores(**counts)) for one in (ADA, BOB))
    assert not made(ada=ada, bob=bob).refusals
    lost = changed(BOB, with_scores(**counts | {"predicted": [3000, 6000]}))
    found = made(ada=ada, again=replace(ada, by="Cid"), bob=lost)
    assert ["not every sample has a prediction" in refused.why for refused in found.refusals] == [
        True
    ]


def test_other_weights_are_refused() -> None:
    other = changed(BOB, lambda run: replace(run, spec=replace(run.spec, weights="f" * 16)))
    assert "other weights: ffffffff and not 01234567" in refusal(other)


def test_a_failed_run_is_refused_with_its_error() -> None:
    broken = stores.failed(BOB.results[0].spec, error="ValueError: no gradient")
    why = refusal(replace(BOB, results=(broken, *BOB.results[1:])))
    assert why.startswith("failed on shapes")
    assert "no gradient" in why


def test_two_that_disagree_are_both_refused_until_a_reference_decides() -> None:
    other = changed(BOB, lambda run: replace(run, spec=replace(run.spec, weights="f" * 16)))
    given = {"ada.json": ADA, "bob.json": other}
    found = board(given, STREAMS, 0.2)
    assert found.entries == ()
    assert all("--reference FILE decides" in refused.why for refused in found.refusals)
    decided = board(given, STREAMS, 0.2, ADA.results)
    assert [entry.by for entry in decided.entries] == ["Ada"]
    assert [refused.file for refused in decided.refusals] == ["bob.json"]
