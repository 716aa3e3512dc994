"""The sequential test: its rate of false alarms, and how soon it finds harm."""

import math

import torch

from trimtab.core.guard import betting


def alarms(mean: float, looks: int, level: float, seed: int = 0) -> int:
    """How often evidence reaches the level, starting again after each time."""
    random = torch.Generator().manual_seed(seed)
    wealth, count = betting.new_wealth(), 0
    for _ in range(looks):
        chances = torch.rand(32, generator=random)
        harms = (chances < 0.2 + mean / 2).float() - (chances > 0.8 + mean / 2).float()
        wealth = betting.after(wealth, betting.STABILITY, harms, 0.02)
        if betting.evidence(wealth) >= level:
            count, wealth = count + 1, betting.new_wealth()
    return count


def test_false_alarms_are_no_more_frequent_than_stated() -> None:
    looks, rate = 3000, 0.01
    # as much harm as is allowed is the worst case of no harm
    assert alarms(0.02, looks, math.log(1 / rate)) <= looks * rate


def test_harm_is_found_within_a_few_looks() -> None:
    assert alarms(0.3, 12, math.log(1 / 0.003)) >= 2


def test_merits_of_the_past_hide_no_harm() -> None:
    wealth = betting.new_wealth()
    for _ in range(50):
        wealth = betting.after(wealth, betting.STABILITY, -torch.ones(64), 0.02)
    assert betting.evidence(wealth) == 0
    wealth = betting.after(wealth, betting.STABILITY, torch.ones(16), 0.02)
    assert betting.evidence(wealth) > 4


def test_signs_do_not_meet() -> None:
    wealth = betting.after(betting.new_wealth(), betting.CONCENTRATION, torch.ones(8), 0.0)
    assert (wealth[betting.STABILITY] == 0).all()
    assert (wealth[betting.CONCENTRATION] > 0).all()


def test_benefit_is_found_soon_and_never_where_there_is_none() -> None:
    helps = -torch.ones(16)
    assert betting.benefit(helps, 0.02) > 4
    assert betting.benefit(torch.cat([helps, torch.ones(64)]), 0.02) > 4  # the latest come first
    assert betting.benefit(torch.cat([torch.ones(64), helps]), 0.02) == 0
    assert betting.benefit(torch.zeros(256), 0.02) == 0


def test_nothing_is_bet_on_drift_where_a_method_cannot() -> None:
    assert betting.strongest(betting.new_wealth(may_drift=False), betting.DRIFT) == 0
    wealth = betting.after(betting.new_wealth(), betting.DRIFT, torch.ones(8), 0.0)
    assert betting.strongest(wealth, betting.DRIFT) == wealth[betting.DRIFT].max() > 1
    assert betting.strongest(wealth, betting.STABILITY) == 0
