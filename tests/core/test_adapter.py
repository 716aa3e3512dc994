"""The loop: windows, micro-batches, precision, and what happens when numbers go wrong."""

import warnings
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.components.entropy import Entropy
from trimtab.components.selective_reset import SelectiveReset
from trimtab.core.backbone import Tensors
from trimtab.core.component import (
    Objective,
    OutputRule,
    ParameterRule,
    Penalty,
    Step,
    Weighting,
)
from trimtab.core.method import Method

UNCOUPLED = ["gn", "ln"]
"""Norms that treat each sample on its own, so that micro-batches can be exact."""


def flip(x: Tensor) -> Tensor:
    return x.flip(-1)


@pytest.mark.parametrize("seed", ["a", None, 1.0, 2**64])
def test_what_is_no_seed_is_refused(model: nets.Net, seed: object) -> None:
    with pytest.raises(ValueError, match="seed must be a whole number of 64 bits, got"):
        trimtab.adapt(model, "tent", seed=seed)  # type: ignore[arg-type]


def test_a_name_in_a_plain_tensor_is_refused_without_a_warning_of_torch(
    model: nets.Net, images: Tensor
) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match="no logits were found in what the model returns"):
            trimtab.adapt(model, "tent", output="scores")(images[:8])
    assert not heard


@pytest.mark.parametrize("keepdim", [True, False])
def test_a_loss_that_is_not_one_number_for_each_sample_is_refused(
    model: nets.Net, images: Tensor, keepdim: bool
) -> None:
    @dataclass(frozen=True)
    class Summed(Objective):
        def loss(self, step: Step, memory: Tensors) -> Tensor:
            return step.logits.sum(1, keepdim=True) if keepdim else step.logits.sum()

    shape = r"\(8,\), got \(8, 1\)" if keepdim else r"\(8,\), got \(\)"
    with pytest.raises(ValueError, match=rf"the loss of summed must have one number .* {shape}"):
        trimtab.adapt(model, Method((Summed(),)))(images[:8])


def params_of(adapter: trimtab.Adapter) -> Tensor:
    return torch.cat([p.detach().flatten() for p in adapter.params.values()])


@pytest.mark.parametrize("norm", UNCOUPLED)
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_64_single_samples_through_a_window_equal_one_batch_of_64(
    model: nets.Net, images: Tensor, optimizer: str
) -> None:
    whole = trimtab.adapt(model, "roid", optimizer=optimizer)
    singly = trimtab.adapt(model, "roid", optimizer=optimizer, window=64)
    whole(images[:64])
    for image in images[:64].split(1):
        singly(image)
    assert singly.counters.updates == whole.counters.updates == 1
    assert not torch.equal(
        params_of(whole), torch.cat([s.flatten() for s in whole.source.values()])
    )
    torch.testing.assert_close(params_of(singly), params_of(whole), atol=1e-5, rtol=0)


@pytest.mark.parametrize("norm", UNCOUPLED)
def test_the_batches_that_fill_a_window_are_no_matter(model: nets.Net, images: Tensor) -> None:
    states = []
    for size in (1, 5, 24, 40, 96):
        # In double precision: in single, rounding moves samples across the kinks of ReLUs.
        adapter = trimtab.adapt(model.double(), "roid", window=24)
        logits = torch.cat([adapter(batch) for batch in images.double().split(size)])
        assert logits.shape == (96, 7)
        assert adapter.counters.updates == 4
        states.append(params_of(adapter))
    for state in states[1:]:
        torch.testing.assert_close(state, states[0], atol=1e-9, rtol=0)


@pytest.mark.parametrize("norm", UNCOUPLED)
@pytest.mark.parametrize("micro_batch", [1, 7, 16])
def test_micro_batches_learn_what_the_whole_batch_learns(
    model: nets.Net, images: Tensor, micro_batch: int
) -> None:
    whole = trimtab.adapt(model, "roid")
    parts = trimtab.adapt(model, "roid", micro_batch=micro_batch)
    for batch in images.split(48):
        torch.testing.assert_close(parts(batch), whole(batch), atol=1e-5, rtol=0)
    torch.testing.assert_close(params_of(parts), params_of(whole), atol=1e-5, rtol=0)


@pytest.mark.parametrize("norm", ["gn"])
def test_no_graph_holds_more_than_a_micro_batch(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid", window=32)
    sizes = []
    adapter.backbone.model.register_forward_pre_hook(
        lambda _, args: sizes.append(len(args[0])) if torch.is_grad_enabled() else None
    )
    for image in images[:32].split(1):
        adapter(image)
    assert adapter.counters.updates == 1
    assert set(sizes) == {1}


@pytest.mark.parametrize("norm", ["bn"])
def test_a_window_on_batch_norm_follows_the_stream(model: nets.Net, images: Tensor) -> None:
    shifted = images * 0.5 + 0.4
    adapter = trimtab.adapt(model, "roid", window=16)
    before = {name: s.clone() for name, s in adapter.statistics.items()}
    for image in shifted.split(1):
        assert adapter(image).isfinite().all()
    assert adapter.counters.updates == 6
    name = "encoder.1.running_mean"
    activations = model.encoder[0](shifted)
    target = activations.mean((0, 2, 3))
    moved = (adapter.statistics[name] - target).norm()
    assert moved < 0.2 * (before[name] - target).norm()


@pytest.mark.parametrize("norm", ["bn"])
def test_window_updates_on_batch_norm_do_not_depend_on_micro_batches(
    model: nets.Net, images: Tensor
) -> None:
    small = trimtab.adapt(model, "roid", window=16, micro_batch=1)
    large = trimtab.adapt(model, "roid", window=16, micro_batch=16)
    for image in images[:32].split(1):
        small(image)
        large(image)
    torch.testing.assert_close(params_of(small), params_of(large), atol=1e-5, rtol=0)


@pytest.mark.parametrize("norm", UNCOUPLED)
def test_the_prior_of_single_samples_comes_from_the_window(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "source + prior_correction", window=8)
    logits = model.eval()(images[:20]).detach()
    for index, image in enumerate(images[:20].split(1)):
        recent = logits[max(0, index - 7) : index + 1].softmax(1)
        prior = recent.mean(0)
        smoothing = max(1 / len(recent), 1 / 7) / prior.max()
        expected = logits[index] * (prior + smoothing) / (1 + 7 * smoothing)
        torch.testing.assert_close(adapter(image)[0], expected, atol=1e-5, rtol=1e-4)


def test_continuing_mid_window_is_bit_equal(model: nets.Net, images: Tensor) -> None:
    straight = trimtab.adapt(model, "roid", window=16)
    states, outputs = [], []
    for image in images[:40].split(1):
        states.append(straight.state_dict())
        outputs.append(straight(image))
    for position in (0, 1, 15, 16, 17, 30, 39):
        resumed = trimtab.adapt(model, "roid", window=16)
        resumed.load_state_dict(states[position])
        for expected, image in zip(outputs[position:], images[position:40].split(1), strict=True):
            assert torch.equal(resumed(image), expected)
        assert torch.equal(params_of(resumed), params_of(straight))


@pytest.mark.parametrize(
    "bad", [{"window": 0}, {"micro_batch": 0}, {"window": -3}, {"window": True}]
)
def test_windows_and_micro_batches_need_a_sample(bad: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least 1 sample"):
        trimtab.adapt(nets.net("bn"), "roid", **bad)  # type: ignore[arg-type]


# ---------------------------------------------------------------- precision


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_models_learn_in_full_precision(
    model: nets.Net, images: Tensor, dtype: torch.dtype
) -> None:
    half = model.to(dtype)
    adapter = trimtab.adapt(half, "roid")
    for batch in images.to(dtype).split(32):
        assert adapter(batch).dtype == torch.float32
    assert adapter.counters.updates == 3
    assert adapter.counters.skipped_updates == 0
    assert all(p.dtype == torch.float32 for p in adapter.params.values())
    assert all(parameter.dtype == dtype for parameter in model.parameters())


def test_double_precision_stays_double(model: nets.Net, images: Tensor) -> None:
    assert trimtab.adapt(model.double(), "roid")(images[:16].double()).dtype == torch.float64


def test_float16_gradients_do_not_vanish(recorded: dict[str, Tensor], images: Tensor) -> None:
    full = trimtab.adapt(nets.trained("ln", recorded), "roid", augment=flip)
    half = trimtab.adapt(nets.trained("ln", recorded).half(), "roid", augment=flip)
    full(images[:32])
    half(images[:32].half())
    cosine = torch.cosine_similarity(
        params_of(full) - torch.cat([s.flatten() for s in full.source.values()]),
        params_of(half) - torch.cat([s.float().flatten() for s in half.source.values()]),
        dim=0,
    )
    assert cosine > 0.9


def test_adaptation_works_under_autocast(model: nets.Net, images: Tensor) -> None:
    plain, mixed = trimtab.adapt(model, "roid"), trimtab.adapt(model, "roid")
    for batch in images.split(32):
        expected = plain(batch)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = mixed(batch)
        torch.testing.assert_close(logits, expected, atol=0.1, rtol=0.1)
    assert mixed.counters.updates == 3


# ---------------------------------------------------------------- numbers that go wrong


@dataclass(frozen=True)
class Explosive(Objective):
    """A loss that is not finite, or whose gradient is not."""

    how: str = "loss"

    def loss(self, step: Step, memory: Tensors) -> Tensor:
        total = step.logits.sum(1)
        if self.how == "loss":
            return total * float("inf")
        return (total - total.detach()).abs().sqrt()  # a finite loss of infinite slope


@pytest.mark.parametrize("how", ["loss", "gradient"])
def test_a_step_that_is_not_finite_is_skipped_and_counted(
    model: nets.Net, images: Tensor, how: str
) -> None:
    adapter = Method((Explosive(how),)).start(trimtab.Backbone(model))
    before = params_of(adapter)
    for batch in images.split(32):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.skipped_updates == 3
    assert adapter.counters.updates == 0
    assert torch.equal(params_of(adapter), before)


def test_gradients_that_are_not_finite_are_shown_to_no_rule(
    model: nets.Net, images: Tensor
) -> None:
    backbone = trimtab.Backbone(model)
    watched = Method((Explosive("gradient"), SelectiveReset())).start(backbone)
    plain = Method((Explosive("gradient"),)).start(backbone)
    for batch in images.split(32):
        assert torch.equal(watched(batch), plain(batch))
    assert watched.counters.skipped_updates == plain.counters.skipped_updates == 3


def test_an_update_that_overflows_is_undone(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "tent", optimizer="sgd", lr=3e38)
    for batch in images.split(32):
        adapter(batch)
    assert adapter.counters.skipped_updates >= 1
    assert params_of(adapter).isfinite().all()


def test_the_source_predicts_where_the_stream_cannot(model: nets.Net, images: Tensor) -> None:
    adapter = trimtab.adapt(model, "roid")
    adapter(images[:16])
    with torch.no_grad():
        for param in adapter.params.values():
            param.fill_(3e38)
    memory = adapter.memory["certainty_diversity"]["mean_probs"].clone()
    logits = adapter(images[:16])
    torch.testing.assert_close(logits, model.eval()(images[:16]))
    assert adapter.counters.skipped_updates == 1
    assert torch.equal(adapter.memory["certainty_diversity"]["mean_probs"], memory)


@dataclass(frozen=True)
class Poisoned(OutputRule):
    """Remembers something that is not finite, in place or anew, from the second batch on."""

    how: str = "in place"

    def new_memory(self, start: object) -> Tensors:
        return {"value": torch.zeros(3), "batches": torch.zeros(())}

    def correct(self, logits: Tensor, step: Step, memory: Tensors) -> Tensor:
        memory["batches"].add_(1)
        if float(memory["batches"]) > 1 and self.how == "in place":
            memory["value"][1] = torch.nan
        elif float(memory["batches"]) > 1:
            memory["value"] = memory["value"] / 0
        return logits


@pytest.mark.parametrize("how", ["in place", "anew"])
def test_memory_that_is_not_finite_is_never_kept(model: nets.Net, images: Tensor, how: str) -> None:
    adapter = trimtab.adapt(model, trimtab.build("roid").plus(Poisoned(how)))
    adapter(images[:16])
    before = adapter.state_dict()
    logits = adapter(images[16:32])
    torch.testing.assert_close(logits, model.eval()(images[16:32]))
    assert adapter.counters.skipped_updates == 1
    assert adapter.memory["poisoned"]["value"].tolist() == [0, 0, 0]
    assert all(torch.equal(p, before["params"][name]) for name, p in adapter.params.items())


@dataclass(frozen=True)
class NobodyCounts(Weighting):
    def weights(self, step: Step, memory: Tensors) -> Tensor:
        return torch.zeros(len(step.inputs))


def test_nothing_moves_when_every_sample_is_left_out(model: nets.Net, images: Tensor) -> None:
    method = Method((Entropy(), NobodyCounts()))
    adapter = method.start(trimtab.Backbone(model))
    before = params_of(adapter)
    adapter(images[:16])
    assert torch.equal(params_of(adapter), before)
    assert adapter.counters.updates == adapter.counters.skipped_updates == 0


def test_a_model_without_norm_layers_is_refused_with_alternatives() -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(768, 7))
    with pytest.raises(ValueError, match=r"'source', 'lame'.*trimtab\.everywhere"):
        trimtab.adapt(model, "roid")
    everything = replace(trimtab.build("tent"), trains=trimtab.everywhere)
    adapter = trimtab.adapt(model, everything)
    adapter(torch.rand(4, 3, 16, 16))
    assert adapter.counters.updates == 1


# ---------------------------------------------------------------- how components combine


@dataclass(frozen=True)
class Half(Weighting):
    def weights(self, step: Step, memory: Tensors) -> Tensor:
        return torch.full((len(step.inputs),), 0.5)


@dataclass(frozen=True)
class OtherHalf(Half):
    pass


@dataclass(frozen=True)
class Distance(Penalty):
    def penalty(self, params: Tensors, source: Tensors, memory: Tensors) -> Tensor:
        return sum(((params[n] - source[n] - 1) ** 2).sum() for n in params)  # type: ignore[return-value]


def gradients(method: Method, model: nn.Module, images: Tensor) -> Tensor:
    """Gradients of the first update, read off a plain SGD step of size 1."""

    @dataclass(frozen=True)
    class Stop(ParameterRule):
        def after_update(self, params: Tensors, source: Tensors, memory: Tensors) -> None:
            pass

    optimizer = replace(method.optimizer, kind="sgd", lr=1.0, momentum=0.0)
    adapter = replace(method, optimizer=optimizer).plus(Stop()).start(trimtab.Backbone(model))
    adapter(images)
    source = torch.cat([s.flatten() for s in adapter.source.values()])
    return source - params_of(adapter)


def test_weights_multiply_and_penalties_add(model: nets.Net, images: Tensor) -> None:
    plain = gradients(Method((Entropy(),)), model, images[:16])
    weighted = gradients(Method((Entropy(), Half(), OtherHalf())), model, images[:16])
    penalised = gradients(Method((Entropy(), Distance())), model, images[:16])
    torch.testing.assert_close(weighted, plain / 4, atol=1e-6, rtol=1e-4)
    torch.testing.assert_close(penalised, plain - 2, atol=1e-6, rtol=1e-4)


def test_a_penalty_is_added_once_whatever_the_micro_batches(images: Tensor) -> None:
    model = nets.net("gn")
    method = Method((Entropy(), Distance()))
    backbone = trimtab.Backbone(model)
    whole, parts = method.start(backbone), method.start(backbone, micro_batch=5)
    whole(images[:16])
    parts(images[:16])
    torch.testing.assert_close(params_of(parts), params_of(whole), atol=1e-5, rtol=0)
