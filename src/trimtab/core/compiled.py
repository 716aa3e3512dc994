"""torch.compile: a network's forward and backward as one graph, which all streams share.

A pass is compiled once for each sample shape, norm policy and set of trained parameters; batch size
and the parameters' values are inputs of the graph. Before a graph is used it is tried beside the
plain pass, forward and backward; where it cannot be made, or differs, passes stay plain.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, Literal

import torch
from torch import Tensor

from trimtab.core.advice import advise
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.beside import run_beside
from trimtab.core.compiling import Trial, batched, twin_of
from trimtab.core.norm import NormPolicy
from trimtab.core.passes import Alone
from trimtab.core.prediction import Prediction
from trimtab.core.structured import Structured

Compile = bool | Literal["auto"]

SAMPLES_TO_PAY = 50_000
"""Samples of one kind of pass after which ``"auto"`` compiles it: what follows may be as long."""
LEAST_SHARE = 4
"""A kind of pass is worth a graph where one sample in so many takes it."""


@dataclass
class Graph:
    """One kind of pass.

    Args:
        call: Compiled ``functional_call``; None while passes are plain.
        backbone: Whose modules it was compiled for; None before.
        asked: Passes of this kind that were asked for.
        samples: In all of them.
        refused: Whether it cannot be compiled.
    """

    call: Callable[..., Any] | None = None
    backbone: Backbone | None = None
    asked: int = 0
    samples: int = 0
    refused: bool = False


@dataclass
class Making:
    """A graph that another thread makes, while passes go on plainly."""

    graph: Graph
    trial: Trial
    thread: Thread


@dataclass
class Graphs:
    """Those of one backbone; its streams share them."""

    known: dict[Hashable, Graph] = field(default_factory=dict)
    samples: int = 0
    warned: bool = False
    making: Making | None = None


class Compiled(Alone):
    """Passes of one stream by compiled graphs, where these can be made.

    Args:
        when: True compiles a kind of pass when it is asked for the second time, so that one that
            never returns (statistics trusted by another share each time) costs nothing; ``"auto"``
            once so many samples came that it is likely to pay, in a thread of its own.
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
        self._take_over()
        graph = None
        if _can_be_compiled(inputs, policy):
            kind = _kind(inputs, params, policy, grad)
            graph = self.graphs.known.setdefault(kind, Graph())
            if graph.call is None and self._is_time(graph, len(inputs)):
                trial = Trial(self.backbone, inputs, params, statistics, policy, grad, self.backend)
                self._make(graph, trial)
        # what a thread compiles must not meet the stance in which graphs are used
        if self.graphs.making or graph is None or graph.call is None or graph.backbone is None:
            return super().forward(inputs, params, statistics, policy, grad=grad)
        with torch.set_grad_enabled(grad), _as_it_is():
            return graph.backbone(batched(inputs), params, statistics, policy, call=graph.call)

    def _is_time(self, graph: Graph, samples: int) -> bool:
        graph.asked += 1
        graph.samples += samples
        self.graphs.samples += samples
        frequent = graph.asked > 1 and LEAST_SHARE * graph.samples >= self.graphs.samples
        enough = self.when != "auto" or graph.samples >= SAMPLES_TO_PAY
        return not graph.refused and frequent and enough and self.graphs.making is None

    def _make(self, graph: Graph, trial: Trial) -> None:
        """Make the graph and try it, here or in a thread."""
        if self.when == "auto" and type(self.backbone) is Backbone:
            trial = trial.on(twin_of(self.backbone))
            self.graphs.making = Making(graph, trial, run_beside(trial.run))
            return
        trial.run()
        self._settle(graph, trial)

    def _take_over(self) -> None:
        """Use the graph that a thread has made, once it is done."""
        making = self.graphs.making
        if making is not None and not making.thread.is_alive():
            self.graphs.making = None
            self._settle(making.graph, making.trial)

    def _settle(self, graph: Graph, trial: Trial) -> None:
        """Use a graph from now on, or refuse it and say why, once for a backbone."""
        if trial.problem is None:
            graph.call, graph.backbone = trial.call, trial.backbone
            return
        graph.refused = True
        if not self.graphs.warned:
            self.graphs.warned = True
            advise(
                f"this network's passes stay plain, torch.compile cannot make them: {trial.problem}"
            )


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


def _as_it_is() -> AbstractContextManager[Any]:
    """What a graph was not made for runs plainly in here, and is not compiled once more."""
    stance = getattr(torch.compiler, "set_stance", None)  # new in torch 2.6
    return nullcontext() if stance is None else stance("eager_on_recompile")
