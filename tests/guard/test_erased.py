"""Runs of classes that batch norms erase without a trace: no class stands out of a batch."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimtab
from noisy_logits import noisy
from trimtab.core.attempt import Attempt
from trimtab.core.backbone import Tensors
from trimtab.core.guard import betting, erased
from trimtab.core.guard.judging import arrived
from trimtab.core.guard.look import Look
from trimtab.core.guard.settings import Guard, new_evidence
from trimtab.core.guard.watch import Watch
from trimtab.core.norm import NormPolicy

CLASSES, COUNT = 10, 64


def unused(*_: Any) -> Any:
    raise AssertionError("no pass is made")


WATCH = Watch(Guard(), attempt=unused)


class Stream:
    """What two models say of made-up samples; both are as stable under views as each other."""

    def __init__(self, seed: int) -> None:
        self.random = torch.Generator().manual_seed(seed)

    def cloud(self) -> Tensor:
        return torch.randn(COUNT, CLASSES, generator=self.random)

    def classes(self) -> Tensor:
        return torch.randint(CLASSES, (COUNT,), generator=self.random)

    def look(
        self,
        own: Tensor,
        source: Tensor,
        stretched: Tensor | None = None,
        halfway: Tensor | None = None,
    ) -> Look:
        """Both models' logits; halfway between them the source's, unless others are given."""
        shuffled = None if stretched is None else self.cloud()
        return Look(
            own,
            source,
            own + 0.5 * self.cloud(),
            source + 0.5 * self.cloud(),
            source_shuffled=shuffled,
            source_stretched=stretched,
            halfway=source if halfway is None else halfway,
        )

    def run(self, number: int) -> Look:
        """One class, of which batch norms leave nothing: the adapted model says anything."""
        truth = torch.full((COUNT,), (number // 3) % CLASSES)
        return self.look(self.cloud(), 2 * torch.eye(CLASSES)[truth] + self.cloud())

    def bias(self, number: int) -> Look:
        """Independent classes, and a source that says one of them of most samples."""
        truth = self.classes()
        biased = self.cloud() + 2 * torch.eye(CLASSES)[3]
        return self.look(3 * torch.eye(CLASSES)[truth] + self.cloud(), biased)

    def weak(self, number: int) -> Look:
        """Independent classes, none of which stands out far of a weak network's logits, and a
        source that favours one of them."""
        truth = 2.0 * torch.eye(CLASSES)[self.classes()]
        favoured = 1.2 * torch.eye(CLASSES)[3]
        own, halfway = (truth + self.cloud() for _ in range(2))
        return self.look(own, truth + favoured + self.cloud(), halfway=halfway)

    def weak_then_run(self, number: int) -> Look:
        return self.weak(number) if number < 10 else self.run(number)

    def veil(self, number: int) -> Look:
        """The same, and the adapted model hardly knows better; full contrast tells that the
        source sees a veil."""
        biased = self.cloud() + 2 * torch.eye(CLASSES)[3]
        return self.look(self.cloud(), biased, stretched=noisy(self.classes(), CLASSES))


def weighed(evidence: Tensors, look: Look, tells: bool = True) -> Tensors:
    return WATCH.weighed(arrived(evidence, look.adapted, coupled=tells), look, cost=0)


def first_alarm(seed: int, kind: str, batches: int, tells: bool = True) -> int | None:
    stream, evidence = Stream(seed), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(batches):
        evidence = weighed(evidence, getattr(stream, kind)(number), tells)
        if betting.evidence(evidence["wealth"]) >= WATCH.guard.alarm:
            return number
    return None


@pytest.mark.parametrize("seed", range(4))
def test_runs_of_which_nothing_is_left_are_harm_within_two_batches(seed: int) -> None:
    alarm = first_alarm(seed, "run", 2)
    assert alarm is not None
    assert first_alarm(seed, "run", 2, tells=False) is None


@pytest.mark.parametrize("kind", ["bias", "veil", "weak"])
@pytest.mark.parametrize("seed", range(3))
def test_a_biased_or_veiled_or_weak_source_is_no_run(kind: str, seed: int) -> None:
    assert first_alarm(seed, kind, 30) is None


@pytest.mark.parametrize("seed", range(3))
def test_of_a_weak_network_too_runs_are_found(seed: int) -> None:
    stream, evidence = Stream(seed), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(6):
        evidence = weighed(evidence, stream.weak(number))
    assert erased.suspicion(evidence, CLASSES) > 0.9
    assert erased.certainty(evidence, CLASSES) == 0
    assert first_alarm(seed, "weak_then_run", 14) is not None


def test_the_source_is_asked_halfway_where_hardly_any_class_stands_out() -> None:
    stream, evidence = Stream(0), new_evidence(WATCH.guard, only_corrects=False)
    for number in range(2):
        look = stream.run(number)
        evidence = arrived(evidence, look.adapted, coupled=True)
        assert erased.is_worth_a_pass(evidence, look)
        few = Look(look.adapted[:4], look.source[:4])
        assert not erased.is_worth_a_pass(evidence, few)
    for number in range(6):
        evidence = arrived(evidence, stream.bias(number).adapted, coupled=True)
    assert not erased.is_worth_a_pass(evidence, stream.bias(6))


def test_glances_tell_harm_where_runs_are_erased() -> None:
    stream, evidence = Stream(0), new_evidence(WATCH.guard, only_corrects=False)
    evidence = weighed(evidence, stream.run(0)) | {"wealth": evidence["wealth"]}
    for number in range(1, 13):
        run = stream.run(number)
        glance = Look(run.adapted[::8], run.source[::8])
        evidence = arrived(evidence, run.adapted, coupled=True)
        evidence = WATCH.weighed(evidence, glance, cost=0)
    assert betting.evidence(evidence["wealth"]) >= WATCH.guard.alarm


def seen(logits: Tensor, source: Tensor, size: int = COUNT) -> Tensors:
    """Evidence once every batch was predicted, and compared with what the source says."""
    evidence = new_evidence(WATCH.guard, only_corrects=False)
    for batch, known in zip(logits.split(size), source.split(size), strict=True):
        evidence = weighed(evidence, Look(batch, known, halfway=known if len(known) > 8 else None))
    return evidence


def certainty(logits: Tensor, size: int = COUNT, source: Tensor | None = None) -> float:
    """Of a source that says one class of all samples, unless another is given."""
    one_class = torch.eye(logits.shape[1])[torch.zeros(len(logits), dtype=torch.long)]
    evidence = seen(logits, one_class if source is None else source, size)
    return erased.certainty(evidence, logits.shape[1])


@pytest.mark.parametrize("size", [1, 7, 64, 200])
@pytest.mark.parametrize("classes", [4, 10, 21])
def test_it_is_known_of_batches_of_any_size(size: int, classes: int) -> None:
    truth = torch.arange(400) % classes
    many = noisy(truth[torch.randperm(400, generator=torch.Generator().manual_seed(0))], classes)
    one = noisy(torch.zeros(400, dtype=torch.long), classes)
    assert certainty(many, size) == 0
    assert certainty(one, size) == 1


@pytest.mark.parametrize("classes", [2, 3, 22, 1000])
def test_nothing_is_said_of_too_few_or_too_many_classes(classes: int) -> None:
    assert certainty(noisy(torch.zeros(256, dtype=torch.long), classes)) == 0


def test_a_few_samples_do_not_tell_yet_and_segments_never_do() -> None:
    assert certainty(noisy(torch.zeros(31, dtype=torch.long), CLASSES)) == 0
    evidence = new_evidence(WATCH.guard, only_corrects=False)
    assert erased.arrived(evidence, torch.randn(2, CLASSES, 4, 4)) is evidence


def network(norm: type[nn.Module]) -> nn.Module:
    """Untrained, so that no class stands out of any batch, with statistics of other inputs."""
    torch.manual_seed(0)
    norms = [norm(8, 8) if norm is nn.GroupNorm else norm(8) for _ in range(2)]
    for layer in norms:
        for statistic in layer.buffers():
            if statistic.is_floating_point():
                statistic.copy_(torch.rand_like(statistic))
    layers = [nn.Conv2d(3, 8, 3), norms[0], nn.ReLU(), nn.Conv2d(8, 8, 3), norms[1], nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, CLASSES))


@pytest.mark.parametrize(("norm", "asked"), [(nn.BatchNorm2d, True), (nn.GroupNorm, False)])
def test_along_a_stream_the_source_is_asked_halfway_and_stays_as_it_is(
    norm: type[nn.Module], asked: bool
) -> None:
    model = network(norm).eval()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    adapter = trimtab.adapt(model, "tent", guard=True)
    policies: list[NormPolicy] = []
    forward = Attempt.forward

    def noted(self: Attempt, inputs: Tensor, params: Any, policy: NormPolicy, *rest: Any) -> Any:
        policies.append(policy)
        return forward(self, inputs, params, policy, *rest)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Attempt, "forward", noted)
        for seed in range(3):
            adapter(torch.rand(32, 3, 8, 8, generator=torch.Generator().manual_seed(seed)))
    halfway = [p for p in policies if p.batch_weight and not p.late_share]
    assert bool(halfway) == asked
    assert all(policy.early_share == 1 and not policy.keep_weight for policy in halfway)
    assert bool(adapter.state.guard["halfway"].any()) == asked
    assert all(torch.equal(before[name], found) for name, found in model.state_dict().items())
