"""Registries: tables of things by name that plug-ins can add to.

Methods, components, scenarios, datasets, models, suites and experiments each have one. A name is
looked for in three places, in this order:

1. the table itself: what this package brings, and what was put in with ``REGISTRY[name] = thing``;
2. the entry points of installed packages, in the registry's group (``trimtab.methods``, ...);
3. where the name reads ``package.module:attribute``, that attribute.

A text ``"package.module:attribute"`` in the table stands for that attribute. Nothing is imported
before it is asked for, and nothing here needs torch.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from numbers import Real
from typing import Any, Generic, SupportsIndex, TypeVar, cast

from trimtab.core.spec import unknown

Item = TypeVar("Item")

NUMBERS: dict[str, tuple[str, Any]] = {
    "int": ("a whole number", SupportsIndex),
    "float": ("a number", Real),
}
"""By their names in a signature: what is expected, and what all of them are."""


def as_it_is(name: str, found: Any) -> Any:
    """What a plug-in brings, without any change."""
    return found


class Registry(MutableMapping[str, Item], Generic[Item]):
    """A table by name, which also finds entry points and ``package.module:attribute``.

    As a mapping it holds the table and the entry points: ``name in registry``, ``for name in
    registry``, ``registry[name]`` (KeyError where there is none). ``find`` takes every kind of
    name and says what is known where it finds nothing; ``make`` calls what it finds.

    Args:
        kind: What one entry is, for errors: ``"method"``.
        table: Entries by name; texts are imported when asked for.
        adopt: Turns what an entry point or ``package.module:attribute`` gives, together with
            its name, into an entry, or raises ValueError; by default it is one already.
        spellings: Further kinds of names that somebody else understands, for errors.
    """

    def __init__(
        self,
        kind: str,
        table: Mapping[str, Item | str],
        *,
        adopt: Callable[[str, Any], Item] = as_it_is,
        spellings: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.group: str = f"trimtab.{kind}s"
        self.adopt = adopt
        self.spellings = spellings
        self._table: dict[str, Item | str] = dict(table)

    def find(self, name: str) -> Item:
        """The entry called ``name``, whichever kind of name that is; ValueError without one."""
        if name in self:
            return self[name]
        if ":" in name:
            return self.adopt(name, imported(name))
        also = (*self, *self.spellings, "package.module:attribute")
        raise ValueError(unknown(self.kind, name, also))

    def make(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """What the entry returns when it is called with ``arguments``, checked beforehand."""
        factory = self.find(name)
        if not callable(factory):
            raise ValueError(f"{self.kind} {name!r} must be callable, got {factory!r}")
        check_arguments(self.kind, name, factory, arguments)
        return factory(**arguments)

    def __getitem__(self, name: str) -> Item:
        if name in self._table:
            entry = self._table[name]
            return cast(Item, imported(entry)) if isinstance(entry, str) else entry
        return self.adopt(name, _loaded(self.kind, self._plugins[name]))

    def __setitem__(self, name: str, entry: Item | str) -> None:
        self._table[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._table[name]

    def __contains__(self, name: object) -> bool:
        return name in self._table or name in self._plugins

    def __iter__(self) -> Iterator[str]:
        return iter((*self._table, *(name for name in self._plugins if name not in self._table)))

    def __len__(self) -> int:
        return len(set(self._table) | set(self._plugins))

    @cached_property
    def _plugins(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=self.group)}


def imported(name: str) -> Any:
    """The attribute that ``package.module:attribute`` names; ValueError where there is none."""
    module_name, _, attribute = name.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is not
        raise ValueError(f"{name}: there is no module {error.name!r} on Python's path") from error
    found = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{name}: {module_name} has no {attribute!r}")
        found = getattr(found, part)
    return found


def check_arguments(
    kind: str, name: str, factory: Callable[..., Any], arguments: Mapping[str, Any]
) -> None:
    """Raise ValueError unless ``factory`` takes these options and needs no others."""
    options = inspect.signature(factory).parameters
    if any(option.kind is option.VAR_KEYWORD for option in options.values()):
        return
    for argument in arguments:
        if argument not in options:
            raise ValueError(unknown(f"option of {name}", argument, options))
    needed = [o.name for o in options.values() if o.default is o.empty and o.name not in arguments]
    if needed:
        raise ValueError(f"{kind} {name!r} needs a value for {', '.join(needed)}")


def check_numbers(factory: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise ValueError unless arguments are numbers where the signature says that they must be.

    Which numbers make sense is for the factory to say.
    """
    options = inspect.signature(factory).parameters
    for name, value in arguments.items():
        annotation = options[name].annotation if name in options else ""
        words = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        kind = words.removesuffix(" | None")
        if kind not in NUMBERS or (value is None and kind != words):
            continue
        expected, numbers = NUMBERS[kind]
        if isinstance(value, bool) or not isinstance(value, numbers):
            raise ValueError(f"{name} must be {expected}, got {value!r}")


def _loaded(kind: str, point: EntryPoint) -> Any:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        package = point.dist.name if point.dist is not None else "an installed package"
        raise ValueError(
            f"{kind} {point.name!r} of {package} ({point.value}) cannot be loaded: {error}; "
            "mend or uninstall that package"
        ) from error
