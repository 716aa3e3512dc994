"""What every method owes its users: one check a promise."""

import copy
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trimtab.api import adapt
from trimtab.core.adapter import Adapter
from trimtab.testing.subject import Subject, expect, expect_finite, expect_same

Check = Callable[[Subject], None]
SIZES = (1, 2, 16)
ONE_SEED = (
    "two streams of one seed differ; all that is random must come from step.generator, and what "
    "is remembered must lie in memory, not in the component"
)


def logits_are_finite(subject: Subject, size: int) -> None:
    """Predictions are finite logits, one row for each sample, without gradients."""
    adapter, size = subject.start(), min(size, subject.full)
    for batch in subject.batches(size, 5):
        logits = adapter(batch)
        sides = tuple(batch.shape[-2:]) if adapter.backbone.task.is_dense else ()
        shape = (size, adapter.backbone.num_classes, *sides)
        expect(logits.shape == shape, f"logits are {tuple(logits.shape)}, expected {shape}")
        expect(bool(logits.isfinite().all()), "logits are not finite")
        expect(not logits.requires_grad, "logits require gradients")


def the_model_stays(subject: Subject) -> None:
    """The user's model stays as it was: weights, mode, gradients."""
    model = subject.model
    before, mode = copy.deepcopy(model.state_dict()), model.training
    flags = [parameter.requires_grad for parameter in model.parameters()]
    adapter = subject.start()
    for batch in subject.batches():
        adapter(batch)
    expect_same(dict(before), dict(model.state_dict()), "the model has changed")
    expect(model.training == mode, "the model's mode has changed")
    same = flags == [parameter.requires_grad for parameter in model.parameters()]
    expect(same, "requires_grad of a parameter has changed")
    left = [name for name, p in model.named_parameters() if p.grad is not None]
    expect(not left, f"gradients were left behind: {left}")


def a_reset_begins_again(subject: Subject) -> None:
    """A reset returns to the start, bit for bit."""
    adapter = subject.start()
    first = [adapter(batch) for batch in subject.batches()]
    adapter.reset()
    again = [adapter(batch) for batch in subject.batches()]
    same = all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    expect(same, "predictions after a reset are other ones")
    expect(adapter.counters.resets >= 1, "the reset was not counted")


def a_restored_stream_goes_on(subject: Subject, size: int) -> None:
    """Going on after a restore is bit-equal, at every position and from disk."""
    adapter, size = subject.start(), min(size, subject.full)
    straight, states = [], []
    for batch in subject.batches(size, 3):
        states.append(adapter.state_dict())
        straight.append(adapter(batch))
    for position, state in enumerate(states):
        other = subject.start(seed=1)
        other.load_state_dict(state)
        resumed = [other(batch) for batch in list(subject.batches(size, 3))[position:]]
        same = all(torch.equal(a, b) for a, b in zip(straight[position:], resumed, strict=True))
        expect(same, f"predictions differ after a restore at batch {position}")
        expect_same(other.state_dict(), adapter.state_dict(), "the states end up different")
    expect_the_same_from_disk(subject, adapter, size)


def expect_the_same_from_disk(
    subject: Subject, adapter: Adapter, size: int = 12, **options: Any
) -> None:
    """Expect a stream that is saved and loaded to go on as if it had not been."""
    with tempfile.TemporaryDirectory() as folder:
        adapter.save(Path(folder) / "end.safetensors")
        other = subject.start(**options)
        other.load(Path(folder) / "end.safetensors")
    expect_same(other.state_dict(), adapter.state_dict(), "what was read is not what was saved")
    last = subject.images[-size:]
    expect(torch.equal(other(last), adapter(last)), "a stream from disk goes on differently")


def streams_do_not_meet(subject: Subject) -> None:
    """Interleaved streams equal separate ones."""
    left, right, alone = subject.start(), subject.start(seed=3), subject.start()
    for batch in subject.batches():
        mixed = left(batch)
        right(batch.flip(0))
        expect(torch.equal(mixed, alone(batch)), "another stream has influenced this one")


def inputs_stay(subject: Subject) -> None:
    """Inputs are not modified."""
    adapter, before = subject.start(), subject.images.clone()
    for batch in subject.batches(count=2):
        adapter(batch)
    expect(torch.equal(subject.images, before), "the inputs were modified")


def buffers_may_be_reused(subject: Subject) -> None:
    """A caller may reuse the buffer of its inputs."""
    fresh, reusing = subject.start(), subject.start()
    buffer = torch.empty_like(subject.images[:4])
    for batch in subject.batches(4, 5):
        expected = fresh(batch.clone())
        buffer.copy_(batch)
        expect(torch.equal(reusing(buffer), expected), "an earlier batch was kept by reference")


def gradient_mode_is_no_matter(subject: Subject) -> None:
    """The caller's gradient mode is no matter."""
    plain, no_grad, inference = subject.start(), subject.start(), subject.start()
    for batch in subject.batches():
        expected = plain(batch)
        with torch.no_grad():
            expect(torch.equal(no_grad(batch), expected), "differs under no_grad")
        with torch.inference_mode():
            same = torch.equal(inference(batch.clone()), expected)
            expect(same, "differs under inference_mode")


def degenerate_batches_are_survived(subject: Subject, size: int) -> None:
    """Constant images leave everything finite."""
    adapter, images = subject.start(), subject.images[: min(size, subject.full)]
    constant = torch.full_like(images, 0.5)
    for batch in (constant, constant, images, torch.zeros_like(constant), images):
        expect(bool(adapter(batch).isfinite().all()), "logits are not finite")
    expect_finite(adapter)


def extreme_logits_are_survived(subject: Subject) -> None:
    """Logits ten thousand times as large leave everything finite."""
    model = copy.deepcopy(subject.model)
    kind = nn.Linear if subject.task is None else nn.Conv2d
    last = [module for module in model.modules() if isinstance(module, kind)][-1]
    with torch.no_grad():
        last.weight.mul_(1e4)
    adapter = adapt(model, subject.method, task=subject.task)
    for batch in subject.batches():
        expect(bool(adapter(batch).isfinite().all()), "logits are not finite")
    expect_finite(adapter)


def a_shorter_last_batch_works(subject: Subject) -> None:
    """A shorter last batch works."""
    adapter = subject.start()
    lengths = [len(adapter(batch)) for batch in subject.images[:37].split(16)]
    expect(lengths == [16, 16, 5], f"batches of 16, 16 and 5 gave {lengths} predictions")


def predict_changes_nothing(subject: Subject) -> None:
    """``predict`` changes nothing."""
    adapter = subject.start()
    adapter(subject.images[:16])
    before = copy.deepcopy(adapter.state_dict())
    first = adapter.predict(subject.images[16:32])
    again = adapter.predict(subject.images[16:32])
    expect(torch.equal(first, again), "the second prediction is another one")
    expect_same(before, adapter.state_dict(), "predict has changed the state")


def bad_batches_are_refused(subject: Subject) -> None:
    """Bad batches are refused and change nothing."""
    images, adapter = subject.images, subject.start()
    adapter(images[:16])
    before, broken = adapter.state_dict(), images[:16].clone()
    broken[3, 0, 0, 0] = float("nan")
    for batch in (broken, images[:16, :2], images[:16, :, 0], images[:0], images[:16].double()):
        try:
            adapter(batch)
        except ValueError as error:
            expect("inputs must" in str(error), f"another error than of the inputs: {error}")
        else:
            raise AssertionError(f"a bad batch of shape {tuple(batch.shape)} was taken")
    expect_same(before, adapter.state_dict(), "a refused batch has changed the state")


def counters_are_true(subject: Subject) -> None:
    """Counters agree with what runs through the network."""
    adapter, ran = subject.start(), []
    adapter(subject.images[:16])
    before = adapter.counters.forward_samples

    def count(_: object, args: tuple[Tensor, ...]) -> None:
        ran.append(len(args[0]))

    handle = adapter.backbone.model.register_forward_pre_hook(count)
    for batch in subject.batches(16):
        adapter(batch)
    handle.remove()
    counted = adapter.counters.forward_samples - before
    expect(counted == sum(ran), f"{counted} samples were counted, {sum(ran)} ran")
    expect(adapter.counters.samples == 64, f"64 samples came, {adapter.counters.samples} counted")


def the_seed_decides(subject: Subject) -> None:
    """The seed decides everything; torch's global random state has no say."""
    left, right = subject.start(seed=5), subject.start(seed=5)
    with torch.random.fork_rng(devices=[]):
        for batch in subject.batches():
            torch.manual_seed(int(batch.sum()))
            expect(torch.equal(left(batch), right(batch)), ONE_SEED)
    expect_same(left.state_dict(), right.state_dict(), "states of one seed differ")


OF_EACH_SIZE = (logits_are_finite, a_restored_stream_goes_on, degenerate_batches_are_survived)
ONCE: tuple[Check, ...] = (
    inputs_stay,
    the_model_stays,
    the_seed_decides,
    a_reset_begins_again,
    streams_do_not_meet,
    buffers_may_be_reused,
    gradient_mode_is_no_matter,
    extreme_logits_are_survived,
    a_shorter_last_batch_works,
    predict_changes_nothing,
    bad_batches_are_refused,
    counters_are_true,
)

METHOD_CHECKS: dict[str, Check] = {check.__name__: check for check in ONCE} | {
    f"{check.__name__}[{size}]": partial(check, size=size)
    for check in OF_EACH_SIZE
    for size in SIZES
}
"""All of them by name, those for several sizes of batches with the size behind it.

What says most about a mistake comes first.
"""
