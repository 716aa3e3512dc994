"""Settings of the guard are refused where they mean nothing."""

import pytest

import trimtab
from guard.test_guarded_streams import Painted, feed
from trimtab import Guard


@pytest.mark.parametrize("name", ["acts", "false_alarms", "allowed_harm", "cost"])
def test_a_setting_without_a_value_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must have a value, got None; leave it out"):
        Guard(**{name: None})  # type: ignore[arg-type]


@pytest.mark.parametrize("false_alarms", [0.2, 0.5])
def test_of_an_update_all_is_kept_without_suspicion_however_soon_an_alarm_comes(
    false_alarms: float,
) -> None:
    adapter = trimtab.adapt(Painted(), "tent", guard=Guard(false_alarms=false_alarms))
    feed(adapter, 4)
    health = adapter.health
    assert (health.evidence, health.updates) == (0, 4)
    assert (health.scaled, health.skipped_updates) == (0, 0)
