"""What every component owes its users: one check a promise."""

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch

from trimtab.core.adapter import Adapter
from trimtab.core.backbone import Backbone
from trimtab.core.component import Component
from trimtab.testing import method_checks
from trimtab.testing.method_checks import expect_the_same_from_disk
from trimtab.testing.subject import Subject, expect, expect_same

ComponentCheck = Callable[[Subject, Component], None]


def predict_says_what_comes(subject: Subject, _: Component) -> None:
    """``predict`` changes nothing and says what a call is going to return."""
    adapter = subject.start()
    for batch in subject.batches(12):
        before = adapter.state_dict()
        promised = adapter.predict(batch)
        expect_same(adapter.state_dict(), before, "predict has changed the state")
        expect(torch.equal(adapter(batch), promised), "a call returns something else than predict")


def a_restored_stream_goes_on(subject: Subject, _: Component, window: int | None) -> None:
    """Going on after a restore is bit-equal at every position, with and without a window."""
    adapter = subject.start(window=window)
    outputs, states, batches = [], [], list(subject.batches(12, 4))
    for batch in batches:
        states.append(adapter.state_dict())
        outputs.append(adapter(batch))
    for position, state in enumerate(states):
        other = subject.start(window=window, seed=1)
        other.load_state_dict(state)
        for batch, expected in zip(batches[position:], outputs[position:], strict=True):
            same = torch.equal(other(batch), expected)
            expect(same, f"predictions differ after a restore at batch {position}")
        expect_same(other.state_dict(), adapter.state_dict(), "the states end up different")
    expect_the_same_from_disk(subject, adapter, window=window)


def it_works_with_every_option(subject: Subject, _: Component, options: Mapping[str, Any]) -> None:
    """Windows, micro-batches and budgets work."""
    adapter = subject.start(**options)
    for batch in subject.images.split(16):
        logits = adapter(batch)
        shape = (16, adapter.backbone.num_classes)
        expect(logits.shape == shape, f"logits are {tuple(logits.shape)}, expected {shape}")
        expect(bool(logits.isfinite().all()), "logits are not finite")
    steps = adapter.counters.updates + adapter.counters.skipped_updates
    expect(steps > 0, "nothing was ever learned")


def memory_keeps_its_layout(subject: Subject, component: Component) -> None:
    """Memory keeps the names, shapes and types that ``new_memory`` gave it."""
    adapter = subject.start()
    adapter.begin(tuple(subject.images.shape[1:]))
    declared = _layout(adapter, component.name)
    for batch in subject.images[:64].split(16):
        adapter(batch)
        found = _layout(adapter, component.name)
        names = found.keys() - component.later_memory.keys()
        expect(names == declared.keys(), f"memory has {sorted(names)}, not {sorted(declared)}")
        for key, (shape, kind) in declared.items():
            rows = int(key in component.varying_memory)
            same = (found[key][0][rows:], found[key][1]) == (shape[rows:], kind)
            expect(same, f"{key} was {shape}, {kind}, and is {found[key]}; see varying_memory")


def _layout(adapter: Adapter, name: str) -> dict[str, tuple[tuple[int, ...], torch.dtype]]:
    return {key: (tuple(t.shape), t.dtype) for key, t in adapter.memory[name].items()}


def half_precision_is_restored(subject: Subject, _: Component) -> None:
    """In half precision, too, a stream can be restored."""
    backbone = Backbone(copy.deepcopy(subject.model).bfloat16())
    adapter, other = (subject.method.start(backbone) for _ in range(2))
    for batch in subject.images[:32].bfloat16().split(16):
        other.load_state_dict(adapter.state_dict())
        expect(torch.equal(adapter(batch), other(batch)), "a restored stream predicts otherwise")


def _as_a_method(check: method_checks.Check) -> ComponentCheck:
    return lambda subject, _: check(subject)


COMPONENT_CHECKS: dict[str, ComponentCheck] = {
    "predict_says_what_comes": predict_says_what_comes,
    "memory_keeps_its_layout": memory_keeps_its_layout,
    "half_precision_is_restored": half_precision_is_restored,
    **{
        f"a_restored_stream_goes_on[window={window}]": partial(
            a_restored_stream_goes_on, window=window
        )
        for window in (None, 8)
    },
    **{
        f"it_works_with_every_option[{name}={value}]": partial(
            it_works_with_every_option, options={name: value}
        )
        for name, value in {"window": 5, "micro_batch": 3, "budget": 1.7}.items()
    },
    **{
        name: _as_a_method(method_checks.METHOD_CHECKS[name])
        for name in (
            "a_reset_begins_again",
            "streams_do_not_meet",
            *(f"degenerate_batches_are_survived[{size}]" for size in method_checks.SIZES),
        )
    },
}
"""All of them by name."""
