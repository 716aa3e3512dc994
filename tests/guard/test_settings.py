"""Settings of the guard are refused where they mean nothing, and depend on no others of torch."""

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

import trimtab
from guard.test_guarded_streams import Painted, feed
from reference import nets
from trimtab import Guard
from trimtab.augment import ColorAffineFlip


@pytest.mark.parametrize("name", ["acts", "false_alarms", "allowed_harm", "cost"])
def test_a_setting_without_a_value_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must have a value, got None; leave it out"):
        Guard(**{name: None})  # type: ignore[arg-type]


@pytest.fixture
def double_by_default() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("method", ["bn1", "lame", "tent", "trimtab"])
@pytest.mark.usefixtures("double_by_default")
def test_torchs_default_type_is_no_hindrance(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("bn", recorded).float()
    adapter, other = (trimtab.adapt(model, method, guard=True) for _ in range(2))
    for batch in images.split(16):
        assert adapter(batch).isfinite().all()
    other.load_state_dict(adapter.state_dict())
    assert torch.equal(other(images[:16]), adapter(images[:16]))
    assert adapter.health.looked_at > 0


@pytest.mark.parametrize("false_alarms", [0.2, 0.5])
def test_of_an_update_all_is_kept_without_suspicion_however_soon_an_alarm_comes(
    false_alarms: float,
) -> None:
    adapter = trimtab.adapt(Painted(), "tent", guard=Guard(false_alarms=false_alarms))
    feed(adapter, 4)
    health = adapter.health
    assert (health.evidence, health.updates) == (0, 4)
    assert (health.scaled, health.skipped_updates) == (0, 0)


def test_a_state_with_another_view_is_refused() -> None:
    few, many = (Guard(view=ColorAffineFlip(rotation=rotation)) for rotation in (1.0, 15.0))
    adapter, other = (trimtab.adapt(Painted(), "tent", guard=guard) for guard in (few, many))
    with pytest.raises(ValueError, match="this state belongs to another stream: its guard is"):
        other.load_state_dict(adapter.state_dict())
