"""Words of a spec: ``name(key=literal, ...)`` to a name and its settings, and back."""

from collections.abc import Iterable, Mapping

from trimtab.core.spec import terms, unknown


def choice(kind: str, name: str, known: Iterable[str]) -> str:
    """``name`` itself if it is known; otherwise an error that names the known and the nearest."""
    names = list(known)
    if name not in names:
        raise ValueError(unknown(kind, str(name), names))
    return name


def parse(text: str) -> tuple[str, dict[str, object]]:
    """The name and the settings in ``text``; settings are literals, nothing is evaluated."""
    first, *more = terms(text)
    if more:
        raise ValueError(f"expected one name, or name(option=value), got {text!r}")
    return first.name, first.arguments


def write(name: str, settings: Mapping[str, object]) -> str:
    """The text that ``parse`` turns into ``name`` and ``settings``."""
    if not settings:
        return name
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in settings.items())})"
