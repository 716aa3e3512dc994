"""Making a graph with torch.compile, and trying it beside the plain pass before it is used."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

import torch
from torch import Tensor

from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.norm import NormPolicy
from trimtab.core.tied import call_of

CLOSE = 1e-4
"""Most difference between a graph and the plain pass, as a share of the largest value."""
OWN_ROUNDING = 2.0
"""Most difference of gradients, in multiples of what the plain pass differs from itself with its
samples turned round: deep networks turn rounding into much larger differences of gradients."""
FAR = 0.05
"""A difference of gradients that no rounding excuses."""
PARTS = 16
"""Parts of two samples whose gradients are compared one by one where those of all differ."""


@dataclass
class Trial:
    """One pass, plain and compiled.

    Args:
        call: Compiled ``functional_call``, once it was tried.
        problem: Why it cannot be used, in words; None where it can.
    """

    backbone: Backbone
    inputs: Tensor
    params: Tensors
    statistics: Tensors
    policy: NormPolicy
    grad: bool
    backend: str
    call: Callable[..., Any] | None = field(default=None, init=False)
    problem: str | None = field(default="it was not tried to its end", init=False)

    def on(self, twin: Backbone) -> Trial:
        """The same pass with modules and tensors that nobody else touches."""
        twin.probe(self.inputs[:1])
        params = {name: p.detach().clone() for name, p in self.params.items()}
        return replace(
            self,
            backbone=twin,
            inputs=self.inputs.clone(),
            params={n: p.requires_grad_(self.params[n].requires_grad) for n, p in params.items()},
            statistics={name: s.clone() for name, s in self.statistics.items()},
        )

    def run(self) -> None:
        """Compile the pass and compare it with the plain one; never raises."""
        try:
            call = torch.compile(
                _new_function(call_of(self.backbone.model)), backend=self.backend, fullgraph=True
            )
            plain, found = self._found(), self._found(call)
            off = _difference(plain, found)
            agree = _difference(plain[:1], found[:1]) <= CLOSE
            near = off <= CLOSE or (agree and self._by_rounding(call, plain, off))
            problem = None if near else "results differ"
        except Exception as error:  # the compiler's own errors have no common kind
            first = str(error).strip().partition("\n")[0]
            self.problem = f"{type(error).__name__}: {first}"
            return
        self.call = call
        self.problem = problem and f"{problem} by {off:.0e}"

    def _by_rounding(self, call: Callable[..., Any], plain: list[Tensor], off: float) -> bool:
        """Whether gradients are as near as those of the plain pass are to each other.

        Either they differ by no more than the plain pass does from itself, or most parts of the
        batch agree: rounding moves a ReLU's input across 0 in a few samples, and the gradient of
        all layers before it with it, while a wrong graph is wrong in all of them.
        """
        if off > FAR:
            return False
        own = _difference(plain[1:], self._turned()[1:])
        return off <= OWN_ROUNDING * own or self._typical_difference(call) <= CLOSE

    def _typical_difference(self, call: Callable[..., Any]) -> float:
        """The median over parts of two samples."""
        parts = [replace(self, inputs=part) for part in self.inputs[: 2 * PARTS].split(2)]
        whole = [part for part in parts if len(part.inputs) == 2]
        gaps = [_difference(p._found(), p._found(call)) for p in whole]
        return median(gaps) if gaps else float("inf")

    def _turned(self) -> list[Tensor]:
        """What the plain pass finds for the same samples in the opposite order."""
        turned = replace(self, inputs=self.inputs.flip(0))
        return turned._found()

    def _found(self, call: Callable[..., Any] | None = None) -> list[Tensor]:
        """Logits and, where gradients are asked for, those of all parameters."""
        trained = {name: p.requires_grad and self.grad for name, p in self.params.items()}
        own = {name: p.detach().requires_grad_(trained[name]) for name, p in self.params.items()}
        with torch.set_grad_enabled(self.grad):
            given = batched(self.inputs), own, self.statistics, self.policy
            logits = self.backbone(*given, call=call).logits
        leaves = [own[name] for name, learns in trained.items() if learns]
        if not leaves or not logits.requires_grad:
            return [logits.detach()]
        found = torch.autograd.grad(logits.square().sum(), leaves, allow_unused=True)
        return [logits.detach(), *(grad for grad in found if grad is not None)]


def twin_of(backbone: Backbone) -> Backbone:
    """A backbone over the same weights with modules of its own, for another thread."""
    modules = backbone.model.named_modules()
    watched = next((name for name, m in modules if m is backbone.classifier), None)
    with backbone.lock:
        return Backbone(
            backbone.model,
            backbone.num_classes,
            watched,
            normalization=backbone.normalization,
            output=backbone.output,
            task=backbone.task,
        )


def batched(inputs: Tensor) -> Tensor:
    """The inputs, whose number of samples may be another one in the next pass."""
    if len(inputs) > 1:
        torch._dynamo.maybe_mark_dynamic(inputs, 0)
    return inputs


def _new_function(call: Callable[..., Any]) -> Callable[..., Any]:
    """``call`` with a code object of its own, which torch keeps its graphs by."""

    def through(model: Any, own: Tensors, args: Any, options: Any) -> Any:
        return call(model, own, args, options)

    return types.FunctionType(
        through.__code__.replace(), through.__globals__, closure=through.__closure__
    )


def _difference(expected: list[Tensor], found: list[Tensor]) -> float:
    """The largest difference, as a share of the largest value of its tensor."""
    pairs = zip(expected, found, strict=True)
    gaps = [float((a - b).abs().max() / a.abs().max().clamp(min=1e-6)) for a, b in pairs]
    return max(gaps, default=0.0) if all(gap == gap for gap in gaps) else float("inf")
