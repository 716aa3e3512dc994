"""Passes are the only way from a step to the network, and who makes them is exchangeable."""

from dataclasses import dataclass, field

import pytest
import torch
from torch import Tensor

import trimtab
from contract.recipes import options_of, rotated
from reference import nets
from same import assert_same
from trimtab.core import reach
from trimtab.core.backbone import Backbone, Tensors
from trimtab.core.component import OutputRule, Step
from trimtab.core.method import Method
from trimtab.core.norm import BATCH, SOURCE, NormPolicy, running
from trimtab.core.passes import Alone
from trimtab.core.prediction import Prediction


class Watched(Alone):
    """Makes passes and counts them; opens the network for as long as one lasts."""

    def __init__(self, backbone: Backbone) -> None:
        super().__init__(backbone)
        self.forwards = self.backwards = 0
        self.open = False
        backbone.model.register_forward_pre_hook(self._at_the_door)

    def _at_the_door(self, *_: object) -> None:
        assert self.open, "something else reaches the network"

    def forward(
        self,
        inputs: Tensor,
        params: Tensors,
        statistics: Tensors,
        policy: NormPolicy,
        *,
        grad: bool,
    ) -> Prediction:
        self.forwards += len(inputs)
        self.open = True
        try:
            made = super().forward(inputs, params, statistics, policy, grad=grad)
        finally:
            self.open = False
        assert made.logits.requires_grad == (grad and any(p.requires_grad for p in params.values()))
        return made

    def backward(self, loss: Tensor) -> None:
        assert loss.dim() == 0
        self.backwards += 1
        super().backward(loss)


@pytest.mark.slow
@pytest.mark.parametrize("method", trimtab.METHODS)
def test_a_step_reaches_the_network_by_its_passes_only(
    method: str, recorded: dict[str, Tensor], images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = options_of(method, recorded) | ({"replay": True} if method == "rmt" else {})
    recipe = trimtab.build(method, **options)
    model = nets.trained(rotated(method), recorded)
    alone = recipe.start(trimtab.Backbone(model))
    backbone = trimtab.Backbone(model)
    # both look at the network before there is a stream
    backbone.probe(images[:1])
    reach.check(backbone, recipe.source_params(backbone) if recipe.learns else {}, images[:1])
    passes = Watched(backbone)
    monkeypatch.setattr(backbone, "probe", trimtab.Backbone(model).probe)
    adapter = recipe.start(backbone, passes=passes)
    for batch in images[:48].split(16):
        expected = alone(batch)
        assert torch.equal(adapter(batch), expected)
    assert passes.forwards == adapter.counters.forward_samples
    assert (passes.backwards > 0) == (adapter.counters.backward_samples > 0)


@dataclass(frozen=True)
class Looks(OutputRule):
    """Takes a further pass under a policy of its own."""

    policy: NormPolicy | None = None
    seen: list[Tensor] = field(default_factory=list, compare=False)

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        self.seen.append(step.forward(step.inputs, policy=self.policy).logits)
        return logits


@pytest.mark.parametrize("window", [None, 8])
@pytest.mark.parametrize("policy", [SOURCE, BATCH, running(0.3), NormPolicy(0.4), None])
def test_a_component_may_choose_the_statistics_of_a_further_pass(
    policy: NormPolicy | None,
    window: int | None,
    recorded: dict[str, Tensor],
    images: Tensor,
) -> None:
    rule = Looks(policy)
    backbone = trimtab.Backbone(nets.trained("bn", recorded))
    adapter = trimtab.adapt(backbone, Method((rule,)), window=window)
    plain = trimtab.adapt(backbone, "bn1", window=window)
    for batch in images[:16].split(8):
        assert torch.equal(adapter(batch), plain(batch))
        assert_same(dict(adapter.statistics), dict(plain.statistics))
    assert adapter.counters.forward_samples == 2 * plain.counters.forward_samples
    if policy is not None:
        with torch.no_grad():
            kept = {name: s.clone() for name, s in plain.statistics.items()}
            expected = backbone(images[8:16], {}, kept, policy).logits
        assert torch.equal(rule.seen[-1], expected)


def test_no_kind_of_adapter_is_derived_from_it() -> None:
    assert trimtab.METHODS
    assert trimtab.Adapter.__subclasses__() == []


def test_a_step_says_how_its_samples_are_normalised_when_they_pass_again(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    policies: list[NormPolicy] = []

    @dataclass(frozen=True)
    class Notes(OutputRule):
        def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
            policies.append(step.policy)
            return logits

    backbone = trimtab.Backbone(nets.trained("bn", recorded))
    for method, window in ((Method((Notes(),)), None), (Method((Notes(),)), 16)):
        trimtab.adapt(backbone, method, window=window)(images[:16])
    trimtab.adapt(backbone, Method((Notes(),), norm=running(0.3)))(images[:16])
    assert policies == [BATCH, SOURCE, NormPolicy(0.3)]
