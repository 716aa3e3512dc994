"""Contract checks from outside: they pass what keeps the contract and name what breaks it."""

from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

from trimtab.components.entropy import Entropy
from trimtab.core.backbone import Tensors
from trimtab.core.component import Objective, OutputRule, Start, Step
from trimtab.core.method import Method
from trimtab.testing import check_component, check_method
from trimtab.testing.subject import small_net


@pytest.mark.slow
def test_an_honest_method_and_component_pass() -> None:
    check_method("tent")
    check_component(Entropy)
    check_component("plugin:Idea", strength=2.0)


@dataclass(frozen=True)
class Forgetful(OutputRule):
    """Keeps what it has seen in itself instead of in the stream's memory."""

    seen: list[Tensor] = field(default_factory=list)

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        self.seen.append(logits.mean(0))
        return logits + torch.stack(self.seen).mean(0)


@dataclass(frozen=True)
class Careless(OutputRule):
    """Draws from torch's global random state."""

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        return logits + torch.rand(len(logits), 1)


@dataclass(frozen=True)
class Rude(OutputRule):
    """Writes into the caller's images."""

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        step.inputs.clamp_(max=0.5)
        return logits


@dataclass(frozen=True)
class Growing(OutputRule):
    """Has memory that grows, and does not say so."""

    def new_memory(self, start: Start) -> Tensors:
        return {"seen": torch.zeros(1, start.num_classes)}

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        memory["seen"] = torch.cat([memory["seen"], logits.mean(0, keepdim=True)])
        return logits


@pytest.mark.parametrize(
    ("rule", "promise"),
    [
        (Forgetful, "the_seed_decides"),
        (Careless, "the_seed_decides"),
        (Rude, "inputs_stay"),
    ],
)
def test_a_broken_promise_is_named(rule: type[OutputRule], promise: str) -> None:
    with pytest.raises(AssertionError, match=rf"^{promise} on Sequential"):
        check_method(lambda: Method((Entropy(), rule())), models=[small_net("gn")])


def test_memory_that_changes_its_shape_is_named() -> None:
    with pytest.raises(AssertionError, match=r"memory_keeps_its_layout.*see varying_memory"):
        check_component(Growing, models=[small_net("gn")])


@dataclass(frozen=True)
class Broken(Objective):
    """Fails as soon as it is asked."""

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        raise RuntimeError("not written yet")


def test_what_a_method_raises_is_told_with_the_check() -> None:
    with pytest.raises(AssertionError, match=r"small net with bn: RuntimeError: not written"):
        check_method(lambda: Method((Broken(),)))


def test_what_is_no_factory_is_named() -> None:
    for check in (check_method, check_component):
        with pytest.raises(TypeError, match=r"must be a factory.*got int: 3"):
            check(3)  # type: ignore[arg-type]
