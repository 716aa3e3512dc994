"""torch.compile: a network's forward and backward as one graph, which all streams share.

A pass is compiled once for each sample shape, norm policy and set of trained parameters; batch size
and the parameters' values are inputs of the graph. Before a graph is used it is tried beside the
plain pass, forward and backward; where it cannot be made, or differs, passes stay plain.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor
from torch.func import functional_call

from trimtab.core.advice import advise
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.norm import NormPolicy
from trimtab.core.passes import Alone
from trimtab.core.prediction import Prediction
from trimtab.core.structured import Structured

Compile = bool | Literal["auto"]

SAMPLES_TO_PAY = 50_000
"""Samples of one kind of pass after which ``"auto"`` compiles it: what follows may be as long."""
LEAST_SHARE = 4
"""A kind of pass is worth a graph where one sample in so many takes it."""
CLOSE = 1e-4
"""Most difference between a graph and the plain pass, as a share of the largest value."""


@dataclass
class Graph:
    """One kind of pass.

    Args:
        call: Compiled ``functional_call``; None while passes are plain.
        asked: Passes of this kind that were asked for.
        samples: In all of them.
        refused: Whether it cannot be compiled.
    """

    call: Callable[..., Any] | None = None
    asked: int = 0
    samples: int = 0
    refused: bool = False


@dataclass
class Graphs:
    """Those of one backbone; its streams share them."""

    known: dict[Hashable, Graph] = field(default_factory=dict)
    samples: int = 0
    warned: bool = False


class Compiled(Alone):
    """Passes of one stream by compiled graphs, where these can be made.

    Args:
        when: True compiles a kind of pass when it is asked for the second time, so that one that
            never returns (statistics trusted by another share each time) costs nothing; ``"auto"``
            once so many samples came that it is likely to pay.
        backend: Of ``torch.compile``.
    """

    def __init__(
        self, backbone: Backbone, when: Compile = True, *, backend: str = "inductor"
    ) -> None:
        super().__init__(backbone)
        self.when = when
        self.backend = backend
        self.graphs: Graphs = backbone.shared.setdefault(("graphs", backend), Graphs())

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        graph = None
        if _can_be_compiled(inputs, policy):
            kind = _kind(inputs, params, policy, grad)
            graph = self.graphs.known.setdefault(kind, Graph())
            if graph.call is None and self._is_time(graph, len(inputs)):
                self._compile(graph, inputs, params, statistics, policy, grad)
        if graph is None or graph.call is None:
            return super().forward(inputs, params, statistics, policy, grad=grad)
        with torch.set_grad_enabled(grad), _as_it_is():
            return self.backbone(_batched(inputs), params, statistics, policy, call=graph.call)

    def _is_time(self, graph: Graph, samples: int) -> bool:
        graph.asked += 1
        graph.samples += samples
        self.graphs.samples += samples
        frequent = graph.asked > 1 and LEAST_SHARE * graph.samples >= self.graphs.samples
        enough = self.when != "auto" or graph.samples >= SAMPLES_TO_PAY
        return not graph.refused and frequent and enough

    def _compile(
        self,
        graph: Graph,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        grad: bool,
    ) -> None:
        """Make the graph and try it, or refuse it and say why, once for a backbone."""
        call = torch.compile(_new_function(), backend=self.backend, fullgraph=True)
        given = _batched(inputs), params, statistics, policy
        try:
            plain = self._tried(*given, grad, functional_call)
            off = _difference(plain, self._tried(*given, grad, call))
            problem = None if off <= CLOSE else f"results differ by {off:.0e}"
        except Exception as error:  # the compiler's own errors have no common kind
            problem = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        if problem is None:
            graph.call = call
            return
        graph.refused = True
        if not self.graphs.warned:
            self.graphs.warned = True
            advise(f"this network's passes stay plain, torch.compile cannot make them: {problem}")

    def _tried(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        grad: bool,
        call: Callable[..., Any],
    ) -> list[Tensor]:
        """Logits and, where gradients are asked for, those of all parameters."""
        trained = {name: p.requires_grad and grad for name, p in params.items()}
        own = {name: p.detach().requires_grad_(trained[name]) for name, p in params.items()}
        with torch.set_grad_enabled(grad):
            logits = self.backbone(inputs, own, statistics, policy, call=call).logits
        leaves = [own[name] for name, learns in trained.items() if learns]
        if not leaves or not logits.requires_grad:
            return [logits.detach()]
        found = torch.autograd.grad(logits.square().sum(), leaves, allow_unused=True)
        return [logits.detach(), *(grad for grad in found if grad is not None)]


def _can_be_compiled(inputs: Tensor, policy: NormPolicy) -> bool:
    """Plain batches whose pass changes nothing: no statistics are kept on the way."""
    plain = type(policy) is NormPolicy and not policy.keep_weight
    simple = not isinstance(inputs, Structured) and not inputs.requires_grad
    return plain and simple and not torch.is_autocast_enabled(inputs.device.type)


def _kind(inputs: Tensor, params: Tensors, policy: NormPolicy, grad: bool) -> Hashable:
    """What a graph is made for; all batches of two and more samples share one."""
    trained = frozenset((name, p.requires_grad and grad, p.dtype) for name, p in params.items())
    single = len(inputs) == 1
    return single, tuple(inputs.shape[1:]), inputs.dtype, policy, grad, trained


def _batched(inputs: Tensor) -> Tensor:
    """The inputs, whose number of samples may be another one in the next pass."""
    if len(inputs) > 1:
        torch._dynamo.maybe_mark_dynamic(inputs, 0)
    return inputs


def _as_it_is() -> AbstractContextManager[Any]:
    """What a graph was not made for runs plainly in here, and is not compiled once more."""
    stance = getattr(torch.compiler, "set_stance", None)  # new in torch 2.6
    return nullcontext() if stance is None else stance("eager_on_recompile")


def _new_function() -> Callable[..., Any]:
    """A ``functional_call`` with a code object of its own, which torch keeps its graphs by."""

    def through(model: Any, own: Tensors, args: Any, options: Any) -> Any:
        return functional_call(model, own, args, options)

    return types.FunctionType(
        through.__code__.replace(), through.__globals__, closure=through.__closure__
    )


def _difference(expected: list[Tensor], found: list[Tensor]) -> float:
    """The largest difference, as a share of the largest value of its tensor."""
    pairs = zip(expected, found, strict=True)
    gaps = [float((a - b).abs().max() / a.abs().max().clamp(min=1e-6)) for a, b in pairs]
    return max(gaps) if all(gap == gap for gap in gaps) else float("inf")
