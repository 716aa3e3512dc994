"""A stream's state as a dictionary, and back: all or nothing, and only after every check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from math import inf
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trimtab.core import outputs
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.component import Component
from trimtab.core.counters import Counters
from trimtab.core.finite import all_finite
from trimtab.core.guard.settings import VARYING, Guard
from trimtab.core.plausible import Shown
from trimtab.core.spec import where_they_differ
from trimtab.core.state import StreamState, laid_like
from trimtab.core.structured import Form
from trimtab.core.window import Window

if TYPE_CHECKING:
    from trimtab.core.method import Method

GROUPS = {
    "params": 1,
    "statistics": 1,
    "window": 1,
    "memory": 2,
    "optimizer": 2,
    "guard": 1,
    "blessed_params": 1,
    "blessed_statistics": 1,
    "blessed_memory": 2,
}
"""Groups of tensors, and how many names lead to one."""

NUMBERS = (
    "made_by",
    "seed",
    "sample_shape",
    "form",
    "counters",
    "pace",
    "shown",
    "followed_samples",
    "learned_through",
)
"""Parts of a captured state that are no tensors."""


def identity(
    backbone: Backbone,
    method: Method,
    state: StreamState,
    micro_batch: object,
    guard: Guard | None,
) -> dict[str, str]:
    """What must be the same for a state to fit."""
    task = {"task": str(backbone.task)} if backbone.task.is_dense else {}
    return {
        **backbone.fingerprint.words(),
        **task,
        "normalization": str(backbone.normalization),
        "output": outputs.described(backbone.output),
        "method": method.spec,
        "window": str(state.window.size),
        "micro_batch": str(micro_batch),
        "pace": f"adapt_every={state.pace.adapt_every}, budget={state.pace.budget}",
        "guard": "None" if guard is None else guard.words,
    }


def capture(made_by: dict[str, str], state: StreamState) -> dict[str, Any]:
    """All that decides the next predictions, as copies."""
    blessed = state.blessed
    return {
        "made_by": made_by,
        "seed": state.seed,
        "sample_shape": None if state.sample_shape is None else list(state.sample_shape),
        "form": None if state.form is None else state.form.state(),
        "counters": asdict(state.counters),
        "pace": state.pace.state(),
        "shown": asdict(state.shown),
        "followed_samples": state.followed_samples,
        "learned_through": state.learned_through,
        "generator": state.generator.get_state(),
        "params": _detached(state.params),
        "statistics": _detached(state.statistics),
        "window": _detached(state.window.state()),
        "memory": {name: _detached(memory) for name, memory in state.memory.items()},
        "optimizer": {str(place): _detached(values) for place, values in state.moments.items()},
        "guard": _detached(state.guard),
        "blessed_params": _detached(blessed.params) if blessed else {},
        "blessed_statistics": _detached(blessed.statistics) if blessed else {},
        "blessed_memory": {n: _detached(m) for n, m in blessed.memory.items()} if blessed else {},
    }


def _detached(tensors: Tensors) -> Tensors:
    return {name: tensor.detach().clone() for name, tensor in tensors.items()}


def refuse_strangers(here: dict[str, str], state: Mapping[str, Any]) -> None:
    """Refuse a state of another model, method or setting, or what is no state at all."""
    _expect(isinstance(state, Mapping), "a state must be a dictionary", type(state).__name__)
    missing = [name for name in (*NUMBERS, *GROUPS, "generator") if name not in state]
    _expect(not missing, "a state must have all its parts", f"none called {', '.join(missing)}")
    made_by = state["made_by"]
    _expect(isinstance(made_by, Mapping), "made_by must be a dictionary", repr(made_by))
    for name, value in here.items():
        if made_by.get(name) != value:
            theirs, ours = where_they_differ(f"{made_by.get(name)}", value)
            found = f"its {name} is {theirs}, here it is {ours}; adapt as it was saved"
            raise ValueError(f"this state belongs to another stream: {found}")


def seed_and_sample(state: Mapping[str, Any]) -> tuple[int, tuple[int, ...] | Form | None]:
    """What decides how the stream began."""
    seed, shape = state["seed"], state["sample_shape"]
    _expect(_is_count(seed, -(2**63)) and seed < 2**64, "a state's seed must be a number", seed)
    if shape is None:
        return seed, None
    sizes = isinstance(shape, (list, tuple)) and all(_is_count(size, 1) for size in shape)
    _expect(bool(sizes and shape), "a state's sample_shape must be a list of sizes", shape)
    return seed, tuple(shape) if state["form"] is None else Form.of(state["form"])


def restored(
    state: Mapping[str, Any], first: StreamState, method: Method, classes: int
) -> StreamState:
    """The state as it was captured, checked against the one that its stream began with."""
    fresh = first.clone()
    fresh.params = _fitting("params", state["params"], first.params)
    fresh.statistics = _fitting("statistics", state["statistics"], first.statistics)
    fresh.memory = _memory(state["memory"], first, method, classes)
    fresh.moments = _moments(state["optimizer"], fresh, method)
    fresh.window = first.window.copy()
    fresh.window.load(
        _detached(_tensors("window", state["window"])), first.sample_shape, first.form
    )
    _set_generator(fresh.generator, state["generator"])
    fresh.counters = Counters(**_counts("counters", state["counters"], asdict(Counters())))
    fresh.pace = replace(first.pace)
    fresh.pace.load(_counts("pace", state["pace"], first.pace.state()))
    fresh.shown = _shown(state["shown"])
    fresh.learned_through = _number(state["learned_through"])
    fresh.guard = _fitting("guard", state["guard"], first.guard, VARYING)
    followed = state["followed_samples"]
    _expect(_is_count(followed, 0), "followed_samples must be a count", followed)
    fresh.followed_samples = followed
    fresh.blessed = _blessed(state, fresh, first, method, classes)
    return fresh


def _blessed(
    state: Mapping[str, Any], now: StreamState, first: StreamState, method: Method, classes: int
) -> StreamState | None:
    """The state that a guard goes back to, if one was saved; all else of it is as in ``now``."""
    names = ("blessed_params", "blessed_statistics", "blessed_memory")
    if not any(_named(name, state[name]) for name in names):
        return None
    blessed = now.draft()
    blessed.params = _fitting("blessed params", state[names[0]], first.params)
    blessed.statistics = _fitting("blessed statistics", state[names[1]], first.statistics)
    blessed.memory = _memory(state[names[2]], first, method, classes)
    blessed.guard, blessed.moments, blessed.window = {}, {}, Window(first.window.size)
    return blessed


def _named(what: str, saved: Any) -> Any:
    _expect(isinstance(saved, Mapping), f"{what} must be a dictionary", type(saved).__name__)
    return saved


def _memory(saved: Any, first: StreamState, method: Method, classes: int) -> dict[str, Tensors]:
    _expect(isinstance(saved, Mapping), "memory must be a dictionary", type(saved).__name__)
    _same_names("memory", saved, first.memory)
    components = {component.name: component for component in method.components}
    memory = {}
    for name, expected in first.memory.items():
        found, component = _tensors(f"memory of {name}", saved[name]), components.get(name)
        later, varying = _later(component, found, classes), frozenset[str]()
        if component is not None:
            varying = component.varying_memory
        memory[name] = _fitting(f"memory of {name}", found, expected | later, varying)
    return memory


def _later(component: Component | None, found: Tensors, classes: int) -> Tensors:
    """What memory that comes and goes has to look like, as far as it is there."""
    shapes = {} if component is None else component.later_memory
    sizes = {"classes": classes}
    return {
        name: torch.zeros([sizes[size] for size in shape], dtype=_float(found[name].dtype))
        for name, shape in shapes.items()
        if name in found
    }


def _float(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.float32


def _moments(saved: Any, state: StreamState, method: Method) -> dict[int, Tensors]:
    _expect(isinstance(saved, Mapping), "optimizer must be a dictionary", type(saved).__name__)
    trained = dict(enumerate(state.trained()))
    known = {str(place) for place in trained}
    _expect(set(saved) <= known, f"optimizer must be of {len(known)} tensors", sorted(saved))
    moments: dict[int, Tensors] = {}
    for place in sorted(saved, key=int):
        assert state.sample_shape is not None or not trained
        tensor, what = trained[int(place)], f"optimizer's tensor {place}"
        shape = state.sample_shape or ()
        moments[int(place)] = _fitting(what, saved[place], method.optimizer.slots(tensor, shape))
    return moments


def _fitting(
    what: str, saved: Any, expected: Tensors, varying: frozenset[str] = frozenset()
) -> Tensors:
    """Copies of saved tensors that have the expected names, shapes and types, in their order."""
    tensors = _tensors(what, saved)
    _same_names(what, tensors, expected)
    for name, like in expected.items():
        found, rows = tensors[name], int(name in varying)
        same = found.shape[rows:] == like.shape[rows:] and found.dim() == like.dim()
        if not same or found.dtype != like.dtype:
            raise ValueError(
                f"this state does not fit: {what} has {name!r} of shape {tuple(found.shape)}, "
                f"{found.dtype}, expected {tuple(like.shape)}, {like.dtype}"
            )
    made = {name: laid_like(tensors[name].detach(), like) for name, like in expected.items()}
    return {name: made[name].requires_grad_(like.requires_grad) for name, like in expected.items()}


def _tensors(what: str, saved: Any) -> Tensors:
    """Finite tensors by name."""
    named = isinstance(saved, Mapping) and all(isinstance(t, Tensor) for t in saved.values())
    _expect(named, f"{what} must be tensors by name", type(saved).__name__)
    broken = [name for name, tensor in saved.items() if not all_finite([tensor])]
    _expect(not broken, f"{what} must be finite", f"NaN or inf in {', '.join(broken)}")
    return dict(saved)


def _same_names(what: str, saved: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    missing, strange = expected.keys() - saved.keys(), saved.keys() - expected.keys()
    if missing or strange:
        lacks = f"lacks {', '.join(sorted(missing))}" if missing else ""
        has = f"has unknown {', '.join(sorted(map(str, strange)))}" if strange else ""
        raise ValueError(
            f"this state does not fit: {what} {' and '.join(filter(None, (lacks, has)))}"
        )


def _counts(what: str, saved: Any, expected: Mapping[str, float]) -> dict[str, Any]:
    """Numbers from 0 on by the expected names."""
    _expect(isinstance(saved, Mapping), f"{what} must be a dictionary", repr(saved))
    _same_names(what, saved, expected)
    for name, number in saved.items():
        real = isinstance(number, float) and isinstance(expected[name], float) and 0 <= number < inf
        _expect(
            _is_count(number, 0) or real, f"{what} must be numbers from 0 on", f"{name}={number}"
        )
    return dict(saved)


def _shown(saved: Any) -> Shown:
    names = {field.name for field in fields(Shown)}
    _expect(isinstance(saved, Mapping) and saved.keys() == names, "shown must be a range", saved)
    peak, row = saved["peak"], saved["refused_in_a_row"]
    real = peak is None or (isinstance(peak, (int, float)) and 0 <= peak < inf)
    _expect(real and _is_count(row, 0), "shown must be a peak and a count", dict(saved))
    return Shown(peak, row)


def _number(saved: Any) -> int | None:
    counted = saved is None or _is_count(saved, 0)
    _expect(counted, "learned_through must be a request's number or None", repr(saved))
    return None if saved is None else int(saved)


def _set_generator(generator: torch.Generator, saved: Any) -> None:
    try:
        generator.set_state(saved.cpu())
    except (AttributeError, TypeError, RuntimeError) as error:
        raise ValueError(f"this state does not fit: its generator is none: {error}") from error


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _expect(holds: bool, what: str, got: object) -> None:
    if not holds:
        raise ValueError(f"this state does not fit: {what}, got {got}")
