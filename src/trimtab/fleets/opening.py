"""How a stream is opened: its method, and the options of the method and of the stream."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from trimtab.api import recipe_of
from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.guard.settings import Guard, chosen
from trimtab.core.method import Method
from trimtab.core.pace import Pace
from trimtab.core.passes import Passes
from trimtab.core.window import Window
from trimtab.fleets.names import seed_of

STREAM_OPTIONS = ("seed", "window", "micro_batch", "adapt_every", "budget", "guard")
"""Options of a stream; all others are its method's."""


@dataclass(frozen=True)
class Opening:
    """All that says how a stream begins, but its name.

    Args:
        seed: Of the fleet; each stream's own follows from it and from its name.
        stream: Options of the stream.
        options: Options of the method.
    """

    method: str | Method
    seed: int = 0
    stream: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    recipe: Method = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """A wrong name or option is refused now, not at the first batch."""
        Window(self.stream.get("window"))
        Pace(self.stream.get("adapt_every", 1), self.stream.get("budget"))
        guard = chosen(self.stream.get("guard"))
        if guard is not None and guard.view is not None:
            raise ValueError("a guard of a fleet makes its views itself: leave view=None")
        object.__setattr__(self, "recipe", recipe_of(self.method, self.options))

    def with_(self, method: str | Method | None, options: dict[str, Any]) -> Opening:
        """The same with a method or options of one stream's own."""
        if method is None and not options:
            return self
        stream = {name: value for name, value in options.items() if name in STREAM_OPTIONS}
        own = {name: value for name, value in options.items() if name not in STREAM_OPTIONS}
        kept = self.options if method is None else {}
        return Opening(
            self.method if method is None else method, self.seed, self.stream | stream, kept | own
        )

    def start(self, backbone: Backbone, name: str, passes: Passes) -> Adapter:
        """A fresh stream of this name."""
        settings = {"seed": seed_of(name, self.seed), **self.stream}
        return self.recipe.start(backbone, passes=passes, **settings)

    def words(self) -> dict[str, Any]:
        """The same as JSON; what no JSON can say is left to whoever opens the stream again."""
        told = isinstance(self.method, str) and _is_plain(self.options)
        return {
            "method": self.method if told else None,
            "spec": self.recipe.spec,
            "seed": self.seed,
            "stream": {**self.stream, "guard": _guard_in_words(self.stream.get("guard"))},
            "options": self.options if told else {},
        }

    def from_words(self, words: dict[str, Any]) -> Opening:
        """The opening that ``words`` tell of; this one, where it is of the same method."""
        method, options = words["method"], words["options"]
        if method is None and words["spec"] == self.recipe.spec:
            method, options = self.method, self.options
        if method is None:
            raise ValueError(
                "its method was no word, or had options that are no plain numbers and words; pass "
                f"the same method again: {words['spec']}"
            )
        return Opening(method, int(words["seed"]), stream_options(words), dict(options))


def stream_options(words: dict[str, Any]) -> dict[str, Any]:
    """Options of a stream, as ``Opening.words`` tells them."""
    stream = dict(words["stream"])
    guard = stream.get("guard")
    return {**stream, "guard": Guard(**guard)} if isinstance(guard, dict) else stream


def _guard_in_words(guard: bool | Guard | None) -> Any:
    if not isinstance(guard, Guard):
        return guard
    return {name: value for name, value in asdict(guard).items() if name != "view"}


def _is_plain(options: dict[str, Any]) -> bool:
    return all(isinstance(value, (str, int, float, bool, type(None))) for value in options.values())
