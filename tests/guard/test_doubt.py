"""A source model that collapsed is doubted; one that sees a run of a class is not."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from trimtab.core.guard.doubt import asked, certainty, doubts, habit, is_needed
from trimtab.core.guard.look import COLUMNS, UNKNOWN, Look

CLASSES, COUNT = 10, 64
NOTHING = torch.zeros(0, len(COLUMNS))
NO_HABIT = torch.zeros(0)
SCATTERED = torch.arange(COUNT) % CLASSES


def saying(classes: Tensor) -> Tensor:
    return 5 * torch.nn.functional.one_hot(classes, CLASSES).float()


def look(source: Tensor, shuffled: Tensor | None = None, stretched: Tensor | None = None) -> Look:
    """The adapted model says all classes, and of views now and then another one."""
    return Look(
        saying(SCATTERED),
        saying(source),
        adapted_view=saying((SCATTERED + (torch.arange(COUNT) % 2)) % CLASSES),
        source_view=saying(source),
        source_shuffled=None if shuffled is None else saying(shuffled),
        source_stretched=None if stretched is None else saying(stretched),
    )


ONE = torch.full((COUNT,), 3)


def test_further_views_are_worth_it_where_the_source_says_one_class() -> None:
    assert is_needed(look(ONE), NOTHING)
    assert not is_needed(look(SCATTERED), NOTHING)


def test_a_look_without_a_sample_of_the_class_in_question_asks_nothing() -> None:
    earlier = look(ONE).rows(NOTHING)[:48]
    others = Look(saying(SCATTERED[:2]), saying(SCATTERED[:2]))
    assert not asked(others, earlier).any()
    assert not is_needed(others, earlier)
    assert is_needed(Look(saying(SCATTERED[:2]), saying(ONE[:2])), earlier)


@pytest.mark.parametrize(
    ("shuffled", "stretched"), [(ONE, ONE), (SCATTERED, SCATTERED)], ids=["anything", "veil"]
)
def test_a_collapsed_source_does_not_accuse(shuffled: Tensor, stretched: Tensor) -> None:
    collapsed = look(ONE, shuffled, stretched)
    found = doubts(collapsed, NOTHING, NO_HABIT)
    assert float(found[3]) > 0.9
    trusted, doubted = (
        float(collapsed.rows(NOTHING, doubts=known)[:, 0].mean()) for known in (None, found)
    )
    assert trusted > 0.3
    assert doubted < 0


def test_only_samples_of_the_class_in_question_are_asked() -> None:
    source = torch.where(torch.arange(COUNT) < 40, ONE, SCATTERED)
    questioned = look(source)
    mask = asked(questioned, NOTHING)
    assert torch.equal(mask, source == 3)
    few = replace(
        questioned,
        asked=mask,
        source_shuffled=saying(ONE[mask]),
        source_stretched=saying(ONE[mask]),
    )
    assert float(doubts(few, NOTHING, NO_HABIT)[3]) > 0.9
    shuffled = few.rows(NOTHING)[:, COLUMNS.index("shuffled_class")]
    assert shuffled.tolist() == [3.0 if it else UNKNOWN for it in mask.tolist()]
    assert len(habit(few, NO_HABIT)) == 0  # a part of them tells of no habit


def test_a_source_that_sees_a_run_is_trusted() -> None:
    assert float(doubts(look(ONE, SCATTERED, ONE), NOTHING, NO_HABIT).max()) == 0


def test_a_class_that_the_source_says_of_all_scraps_is_no_collapse() -> None:
    known = habit(look(SCATTERED, ONE), NO_HABIT)
    assert float(known[3]) == 1
    assert float(doubts(look(ONE, ONE, ONE), NOTHING, known).max()) == 0


def test_a_habit_is_learned_only_from_a_source_that_shows_many_classes() -> None:
    assert len(habit(look(ONE, ONE), NO_HABIT)) == 0
    assert len(habit(look(SCATTERED), NO_HABIT)) == 0


def test_doubt_outlives_small_looks() -> None:
    """A single sample says nothing alone; with the rows before it, it does."""

    def part(rows: slice) -> Look:
        whole = look(ONE, ONE, ONE)
        return Look(
            whole.adapted[rows],
            whole.source[rows],
            source_view=whole.source[rows],
            adapted_view=whole.adapted[rows],
            source_shuffled=whole.source[rows],
            source_stretched=whole.source[rows],
        )

    assert float(doubts(part(slice(1)), NOTHING, NO_HABIT).max()) == 0
    earlier = part(slice(1, 40)).rows(NOTHING)
    assert float(doubts(part(slice(1)), earlier, NO_HABIT)[3]) > 0.9


def test_a_source_that_says_its_habit_is_neither_doubted_nor_certain() -> None:
    known = habit(look(SCATTERED, ONE), NO_HABIT)
    of_habit = look(ONE, ONE, ONE)
    assert float(doubts(of_habit, NOTHING, known)[3]) == 0
    assert float(certainty(of_habit, NOTHING)[3]) < 0
    assert float(certainty(look(ONE, SCATTERED, ONE), NOTHING)[3]) == 1
    assert float(certainty(look(ONE), NOTHING)[3]) == 0
