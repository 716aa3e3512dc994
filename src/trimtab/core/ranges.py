"""Checks of settings: each says which setting, what was expected and what came."""


def check_shares(settings: object, *names: str) -> None:
    """Refuse settings of these names that lie outside of [0, 1]."""
    for name in names:
        if not 0 <= getattr(settings, name) <= 1:
            raise ValueError(f"{name} must lie in [0, 1], got {getattr(settings, name)}")


def check_positive(settings: object, *names: str) -> None:
    """Refuse settings of these names that are not above 0; None is no setting."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, got {value}")


def check_counts(settings: object, *names: str, least: int = 1, unit: str = "") -> None:
    """Refuse settings of these names that are fewer than ``least``; None is no setting."""
    for name in names:
        value = getattr(settings, name)
        if value is not None and not value >= least:
            words = f"{least} {unit}".strip()
            raise ValueError(f"{name} must be at least {words}, got {value}")
