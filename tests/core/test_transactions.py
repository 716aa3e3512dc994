"""A call ends with logits and a new state, or with an error and the old one, bit for bit."""

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import options_of, rotated
from reference import nets
from same import assert_same
from trimtab.components.entropy import Entropy
from trimtab.core import optimizer as optimizers
from trimtab.core.backbone import Tensors
from trimtab.core.component import OutputRule, ParameterRule, Step
from trimtab.core.method import Method

ERRORS = (KeyboardInterrupt, MemoryError, torch.OutOfMemoryError, ValueError)
"""What may be raised at any point."""


def assert_untouched(adapter: trimtab.Adapter, before: dict[str, Any]) -> None:
    assert_same(adapter.state_dict(), before)
    assert all(tensor.grad is None for tensor in adapter.state.trained())
    assert all(parameter.grad is None for parameter in adapter.backbone.model.parameters())


def failing_at(adapter: trimtab.Adapter, number: int, error: type[BaseException]) -> Any:
    """Let the network raise in its pass of this number."""
    passes = 0

    def fail(*_: object) -> None:
        nonlocal passes
        passes += 1
        if passes == number:
            raise error("on purpose")

    last = list(adapter.backbone.model.modules())[-1]
    return last.register_forward_pre_hook(fail)


@pytest.mark.parametrize("window", [None, 6])
@pytest.mark.parametrize("method", trimtab.METHODS)
def test_a_network_that_fails_in_any_pass_leaves_the_old_state(
    method: str, window: int | None, recorded: dict[str, Tensor], images: Tensor
) -> None:
    options = options_of(method, recorded) | ({"replay": True} if method == "rmt" else {})
    model = nets.trained(rotated(method), recorded)
    adapter = trimtab.adapt(model, method, window=window, **options)
    twin = adapter.clone()
    adapter(images[:16])
    twin(images[:16])
    before = adapter.state_dict()
    for number in range(1, 6):
        error = ERRORS[number % len(ERRORS)]
        handle = failing_at(adapter, number, error)
        try:
            adapter(images[16:32])
        except error:
            assert_untouched(adapter, before)
        else:
            adapter.load_state_dict(before)  # it needs fewer passes
        finally:
            handle.remove()
    assert torch.equal(adapter(images[16:32]), twin(images[16:32]))
    assert_same(adapter.state_dict(), twin.state_dict())


@dataclass(frozen=True)
class FailsAfterUpdates(ParameterRule):
    """Changes what it is given, then fails."""

    def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
        for param in params.values():
            param.zero_()
        raise ValueError("on purpose")


@dataclass(frozen=True)
class FailsOnOutputs(OutputRule):
    """Changes its memory, then fails."""

    def new_memory(self, start: object) -> Tensors:
        return {"seen": torch.zeros(())}

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        memory["seen"].add_(1)
        if float(memory["seen"]) > 1:
            raise ValueError("on purpose")
        return logits


def test_a_rule_that_fails_leaves_the_old_parameters(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, Method((Entropy(), FailsAfterUpdates())))
    adapter.begin((3, 16, 16))
    before = adapter.state_dict()
    with pytest.raises(ValueError, match="on purpose"):
        adapter(images[:16])
    assert_untouched(adapter, before)


def test_a_rule_that_fails_leaves_the_old_memory(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, trimtab.build("roid").plus(FailsOnOutputs()))
    adapter(images[:16])
    before = adapter.state_dict()
    with pytest.raises(ValueError, match="on purpose"):
        adapter(images[16:32])
    assert_untouched(adapter, before)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_an_optimiser_that_stops_halfway_leaves_the_old_moments(
    model: nets.Net, images: Tensor, optimizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter = trimtab.adapt(model, "roid", optimizer=optimizer)
    adapter(images[:16])
    before = adapter.state_dict()

    def stop(*lists: Any, **_: Any) -> None:
        for tensors in lists:
            for tensor in tensors or ():
                if tensor is not None:
                    tensor.zero_()
        raise KeyboardInterrupt

    monkeypatch.setattr(optimizers, optimizer, stop)
    with pytest.raises(KeyboardInterrupt):
        adapter(images[16:32])
    assert_untouched(adapter, before)


def test_a_backward_pass_that_fails_leaves_no_gradient(model: nets.Net, images: Tensor) -> None:
    class Interrupted(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, *grads: Tensor) -> Tensor:
            raise MemoryError("on purpose")

    adapter = trimtab.adapt(model, "tent")
    adapter(images[:16])
    before = adapter.state_dict()
    # at the network's first norm layer: later ones have their gradients by then
    layer = next(m for m in adapter.backbone.model.modules() if "Norm" in type(m).__name__)
    handle = layer.register_forward_hook(lambda *args: Interrupted.apply(args[2]))
    with pytest.raises(MemoryError, match="on purpose"):
        adapter(images[16:32])
    handle.remove()
    assert_untouched(adapter, before)


@pytest.mark.parametrize("method", trimtab.METHODS)
def test_predict_does_not_even_begin_a_stream(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    options = options_of(method, recorded)
    adapter = trimtab.adapt(nets.trained(rotated(method), recorded), method, **options)
    held, before, copied = adapter.counters, adapter.state_dict(), replace(adapter.counters)
    adapter.predict(images[:4])
    if "source_data" not in options:
        adapter.predict(images[:4, :, :8, :8])  # no shape was settled
    assert adapter.sample_shape is None
    assert held is adapter.counters
    assert held == copied
    assert_same(adapter.state_dict(), before)


def test_a_stream_begins_once_and_with_one_shape(model: nets.Net, images: Tensor) -> None:
    early, late = trimtab.adapt(model, "roid"), trimtab.adapt(model, "roid")
    early.begin((3, 16, 16))
    assert torch.equal(early(images[:16]), late(images[:16]))
    before = early.state_dict()
    early.begin((3, 16, 16))
    assert_same(early.state_dict(), before)
    with pytest.raises(ValueError, match=r"samples of shape \(3, 16, 16\), got \(3, 8, 8\)"):
        early.begin((3, 8, 8))


def test_predict_changes_no_counters_that_the_caller_holds(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid")
    adapter(images[:16])
    held, copied = adapter.counters, replace(adapter.counters)
    adapter.predict(images[16:32])
    assert held is adapter.counters
    assert held == copied


@pytest.mark.parametrize("window", [None, 16])
def test_predict_says_what_a_call_returns(
    model: nets.Net, images: Tensor, window: int | None
) -> None:
    for method in ("roid", "cotta", "rmt", "trimtab", "bn_ema", "rotta", "sar"):
        options: dict[str, Any] = {"views": 2} if method == "cotta" else {}
        adapter = trimtab.adapt(model, method, window=window, micro_batch=5, **options)
        for batch in images[:64].split(16):
            promised = adapter.predict(batch)
            assert torch.equal(adapter(batch), promised), method


def in_threads(work: Callable[[], object], threads: int) -> list[BaseException]:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return errors


@pytest.mark.parametrize("method", ["roid", "rotta", "trimtab"])
def test_calls_from_several_threads_wait_for_each_other(
    method: str, model: nets.Net, images: Tensor
) -> None:
    backbone = trimtab.Backbone(model)
    shared, alone = (trimtab.adapt(backbone, method, window=24) for _ in range(2))
    outputs: list[Tensor] = []

    def work() -> None:
        for _ in range(4):
            outputs.append(shared(images[:8]))
            shared.predict(images[:8])
            shared.state_dict()

    assert in_threads(work, 4) == []
    expected = [alone(images[:8]) for _ in range(16)]
    assert_same(shared.state_dict(), alone.state_dict())
    found = sorted(tuple(output.flatten().tolist()) for output in outputs)
    assert found == sorted(tuple(output.flatten().tolist()) for output in expected)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, trimtab.Adapter.clone])
@pytest.mark.parametrize("method", ["roid", "rotta", "rmt"])
def test_a_clone_is_an_independent_stream_on_the_same_backbone(
    how: Callable[[trimtab.Adapter], trimtab.Adapter],
    method: str,
    model: nets.Net,
    images: Tensor,
) -> None:
    adapter = trimtab.adapt(model, method, window=12)
    adapter(images[:20])
    twin = how(adapter)
    assert twin.backbone is adapter.backbone
    before = adapter.state_dict()
    first = [twin(batch) for batch in images[20:60].split(20)]
    assert_same(adapter.state_dict(), before)
    assert all(
        torch.equal(adapter(batch), output)
        for batch, output in zip(images[20:60].split(20), first, strict=True)
    )
    with torch.no_grad():
        for param in twin.params.values():
            param.zero_()
    assert all(bool(param.any()) for param in adapter.params.values())
