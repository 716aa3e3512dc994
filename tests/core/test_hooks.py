"""Targets, shared views and recalled samples in the loop."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.components.augmentation_consistency import AugmentationConsistency
from trimtab.core.backbone import Backbone, Tensors, weights_and_biases
from trimtab.core.component import Objective, OutputRule, Recall, Start, Step
from trimtab.core.method import Method


@dataclass(frozen=True)
class Remembering(Objective):
    """Notes what it is given; its targets number the samples."""

    seen: list[list[float]] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)

    def targets(self, step: Step, memory: Tensors) -> Tensors:
        assert not torch.is_grad_enabled()
        assert not step.logits.requires_grad
        self.asked.append(len(step.inputs))
        return {"number": torch.arange(len(step.inputs)).float()}

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        self.seen.append(step.targets[self.name]["number"].tolist())
        return step.logits.sum(1)


@dataclass(frozen=True)
class Numbering(Remembering, OutputRule):
    """The same, and returns the numbers."""

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        return logits + step.targets[self.name]["number"][:, None]


@dataclass(frozen=True)
class SecondConsistency(AugmentationConsistency):
    """Another objective with the same kind of view."""


@dataclass(frozen=True)
class EveryThird(Recall):
    """Learns from every third sample as soon as it comes."""

    def new_memory(self, start: Start) -> Tensors:
        return {"count": torch.tensor(0)}

    def recall(self, step: Step, memory: Tensors) -> Iterator[Tensor]:
        for sample in step.inputs:
            memory["count"] = memory["count"] + 1
            if memory["count"] % 3 == 0:
                yield sample[None]


def test_micro_batches_get_the_targets_of_their_samples(model: nets.Net, images: Tensor) -> None:
    component = Remembering()
    trimtab.adapt(model, Method((component,)), micro_batch=4)(images[:10])
    assert component.asked == [10]
    assert component.seen == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


def test_an_output_rules_targets_are_worked_out_once_and_kept_for_the_loss(
    model: nets.Net, images: Tensor
) -> None:
    component = Numbering()
    adapter = trimtab.adapt(model, Method((component,)))
    plain = trimtab.adapt(model, "bn1")(images[:4])
    torch.testing.assert_close(adapter(images[:4]), plain + torch.arange(4.0)[:, None])
    assert component.asked == [4]
    assert component.seen == [[0, 1, 2, 3]]
    adapter.predict(images[:3])
    assert component.asked == [4, 3]
    assert len(component.seen) == 1


def test_a_window_asks_for_targets_of_all_its_samples(model: nets.Net, images: Tensor) -> None:
    component = Remembering()
    adapter = trimtab.adapt(model, Method((component,)), window=6)
    adapter(images[:4])
    adapter(images[4:8])
    assert component.asked == [6]


def test_equal_augmentations_share_one_draw_and_one_pass(model: nets.Net, images: Tensor) -> None:
    one = trimtab.adapt(model, Method((AugmentationConsistency(),)))
    two = trimtab.adapt(model, Method((AugmentationConsistency(), SecondConsistency())))
    for batch in images[:32].split(16):
        one(batch)
        two(batch)
    assert two.counters == one.counters
    assert torch.equal(one.generator.get_state(), two.generator.get_state())


def test_different_augmentations_pass_on_their_own(model: nets.Net, images: Tensor) -> None:
    flip = SecondConsistency(lambda x: x.flip(-1))
    adapter = trimtab.adapt(model, Method((AugmentationConsistency(), flip)))
    adapter(images[:16])
    assert adapter.counters.forward_samples == 3 * 16


def test_updates_learn_from_what_is_recalled(model: nets.Net, images: Tensor) -> None:
    method = trimtab.build("tent").plus(EveryThird())
    adapter = trimtab.adapt(model, method)
    for batch in images[:16].split(8):
        adapter(batch)
    assert adapter.counters.updates == 5
    assert adapter.counters.backward_samples == 5
    assert adapter.counters.forward_samples == 16 + 5


def test_memory_from_a_file_keeps_the_order_that_moments_are_counted_by(
    model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    """Files sort names; the projector's weights come before its biases in memory."""
    backbone = Backbone(model)
    adapter, other = (trimtab.adapt(backbone, "tent + prototype_contrast") for _ in range(2))
    adapter(images[:16])
    adapter.save(tmp_path / "stream.safetensors")
    other.load(tmp_path / "stream.safetensors")
    assert list(other.memory["prototype_contrast"]) == list(adapter.memory["prototype_contrast"])
    assert torch.equal(adapter(images[16:32]), other(images[16:32]))
    for left, right in zip(adapter.state.trained(), other.state.trained(), strict=True):
        assert torch.equal(left, right)


def test_the_classifier_is_known_once_a_batch_has_passed(model: nets.Net, images: Tensor) -> None:
    backbone = Backbone(model)
    assert backbone.classifier is None
    backbone.probe(images[:1])
    assert type(backbone.classifier) is torch.nn.Linear


def test_weights_and_biases_are_picked_by_name() -> None:
    layer = torch.nn.MultiheadAttention(4, 1)
    assert weights_and_biases(layer, "bias")
    assert weights_and_biases(layer, "weight")
    assert not weights_and_biases(layer, "in_proj_weight")
