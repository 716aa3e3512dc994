"""Loading is all or nothing: whatever is wrong with a state, the running stream goes on."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors
import safetensors.torch
import torch
from torch import Tensor

import trimtab
from reference import nets
from same import assert_same
from trimtab.core import saved


@pytest.fixture
def backbone(recorded: dict[str, Tensor]) -> trimtab.Backbone:
    return trimtab.Backbone(nets.trained("bn", recorded))


def stream(backbone: trimtab.Backbone, images: Tensor, method: str = "roid") -> trimtab.Adapter:
    adapter = trimtab.adapt(backbone, method, window=8)
    adapter(images[:12])
    return adapter


def refused(adapter: trimtab.Adapter, load: Callable[[], None]) -> str:
    """The sentence with which a load is refused, after which the stream is as it was."""
    before = adapter.state_dict()
    with pytest.raises(ValueError, match=r"\S") as caught:
        load()
    assert_same(adapter.state_dict(), before)
    return str(caught.value)


Change = Callable[[dict[str, Any]], object]


def first(tensors: dict[str, Tensor]) -> str:
    return next(iter(tensors))


def put(state: dict[str, Any], group: str, make: Callable[[Tensor], Tensor]) -> None:
    name = first(state[group])
    state[group][name] = make(state[group][name])


def nan_in(tensor: Tensor) -> Tensor:
    broken = tensor.clone()
    broken.flatten()[0] = torch.nan
    return broken


BROKEN: dict[str, tuple[Change, str]] = {
    "a missing parameter": (lambda s: s["params"].pop(first(s["params"])), "params lacks"),
    "an unknown parameter": (
        lambda s: s["params"].update(extra=torch.zeros(1)),
        "params has unknown extra",
    ),
    "a longer parameter": (lambda s: put(s, "params", lambda t: t.repeat(2)), "of shape"),
    "a parameter to broadcast": (lambda s: put(s, "params", lambda t: t[:1]), "of shape"),
    "a parameter of another type": (lambda s: put(s, "params", Tensor.double), "float64"),
    "a parameter that is NaN": (lambda s: put(s, "params", nan_in), "NaN or inf in"),
    "no parameters": (lambda s: s.pop("params"), "none called params"),
    "parameters in a list": (lambda s: s.update(params=[1, 2]), "must be tensors by name"),
    "a missing statistic": (
        lambda s: s["statistics"].pop(first(s["statistics"])),
        "statistics lacks",
    ),
    "statistics that are NaN": (lambda s: put(s, "statistics", nan_in), "NaN or inf in"),
    "memory of nobody": (lambda s: s["memory"].update(nobody={}), "unknown nobody"),
    "memory missing": (lambda s: s["memory"].popitem(), "memory lacks"),
    "memory of another shape": (
        lambda s: s["memory"]["certainty_diversity"].update(mean_probs=torch.ones(3) / 3),
        "expected (7,)",
    ),
    "moments of a strange tensor": (
        lambda s: s["optimizer"].update({"999": s["optimizer"]["0"]}),
        "optimizer must be of",
    ),
    "moments of another optimiser": (
        lambda s: s["optimizer"].update({"0": {"momentum_buffer": torch.zeros(8)}}),
        "optimizer's tensor 0 lacks",
    ),
    "moments that are NaN": (lambda s: put(s["optimizer"], "0", nan_in), "NaN or inf in"),
    "a window that is overfull": (
        lambda s: s["window"].update(recent_logits=torch.zeros(99, 7)),
        "a window",
    ),
    "a window without inputs": (lambda s: s["window"].pop("waiting_inputs"), "must have waiting"),
    "a window of other batches": (
        lambda s: s["window"].update(waiting_sizes=torch.tensor([3])),
        "must hold its batches",
    ),
    "a window of other samples": (
        lambda s: s["window"].update(waiting_inputs=s["window"]["waiting_inputs"][..., :4]),
        "must hold samples of shape",
    ),
    "a window of strange parts": (
        lambda s: s["window"].update(more=torch.zeros(1)),
        "must have parts",
    ),
    "no generator": (lambda s: s.update(generator=torch.zeros(3)), "generator is none"),
    "a seed in words": (lambda s: s.update(seed="three"), "seed must be a number"),
    "a shape in words": (lambda s: s.update(sample_shape="large"), "sample_shape must be a list"),
    "a shape without size": (lambda s: s.update(sample_shape=[3, 0]), "must be a list of sizes"),
    "a huge shape": (lambda s: s.update(sample_shape=[3, 60000, 60000]), "values at most"),
    "a shape that the model does not take": (
        lambda s: s.update(sample_shape=[5, 16, 16]),
        "takes no samples of shape",
    ),
    "counters below zero": (lambda s: s["counters"].update(samples=-1), "from 0 on"),
    "unknown counters": (lambda s: s["counters"].update(smiles=1), "unknown smiles"),
    "counters missing": (lambda s: s["counters"].pop("samples"), "counters lacks samples"),
    "a pace in words": (lambda s: s.update(pace="quick"), "pace must be a dictionary"),
    "a pace that is NaN": (lambda s: s["pace"].update(price=float("nan")), "from 0 on"),
    "a range below zero": (lambda s: s["shown"].update(peak=-3.0), "shown must be"),
    "a range in words": (lambda s: s.update(shown=None), "shown must be a range"),
    "a request's number in words": (
        lambda s: s.update(learned_through="seven"),
        "learned_through must be",
    ),
    "a request's number below zero": (
        lambda s: s.update(learned_through=-1),
        "learned_through must be",
    ),
    "no origin": (lambda s: s.update(made_by=None), "made_by must be"),
    "another origin": (lambda s: s["made_by"].update(method="x"), "belongs to another stream"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_state_with_something_wrong_is_refused_in_one_sentence(
    what: str, backbone: trimtab.Backbone, images: Tensor
) -> None:
    adapter = stream(backbone, images)
    change, expected = BROKEN[what]
    state = copy.deepcopy(adapter.state_dict())
    adapter(images[12:15])
    change(state)
    said = refused(adapter, lambda: adapter.load_state_dict(state))
    assert expected in said
    assert "\n" not in said


@pytest.mark.parametrize("method", ["eta", "sar", "adacontrast", "rotta", "roid", "trimtab"])
def test_memory_that_comes_and_goes_can_be_loaded_and_is_checked(
    method: str, backbone: trimtab.Backbone, images: Tensor
) -> None:
    options: dict[str, Any] = {"queue_size": 32, "bank_size": 32} if method == "adacontrast" else {}
    adapter, other = (trimtab.adapt(backbone, method, **options) for _ in range(2))
    for batch in images[:48].split(12):
        state = adapter.state_dict()
        other.load_state_dict(state)
        assert torch.equal(adapter(batch), other(batch))
    for name, tensors in adapter.state_dict()["memory"].items():
        for key in tensors:
            state = adapter.state_dict()
            state["memory"][name][key] = torch.zeros(2, 5, 3)
            assert "of shape (2, 5, 3)" in refused(other, lambda s=state: other.load_state_dict(s))  # type: ignore[misc]


def test_no_flipped_bit_is_loaded(
    backbone: trimtab.Backbone, images: Tensor, tmp_path: Path
) -> None:
    adapter = stream(backbone, images)
    path = tmp_path / "camera.safetensors"
    adapter.save(path)
    whole = path.read_bytes()
    positions = torch.randint(8 * len(whole), (400,), generator=torch.Generator().manual_seed(0))
    before = adapter.state_dict()
    for position in positions.tolist():
        broken = bytearray(whole)
        broken[position // 8] ^= 1 << position % 8
        path.write_bytes(bytes(broken))
        with pytest.raises(ValueError, match=r"camera\.safetensors"):
            adapter.load(path)
    assert_same(adapter.state_dict(), before)


def rewritten(path: Path, change: Change) -> None:
    """The same file with another manifest, and a checksum that fits it."""
    with safetensors.safe_open(path, framework="pt") as file:
        manifest = json.loads(file.metadata()[saved.MANIFEST])
    tensors = safetensors.torch.load_file(path)
    change(manifest)
    text = json.dumps(manifest)
    metadata = {saved.MANIFEST: text, saved.CHECKSUM: saved.checksum(text, tensors)}
    path.write_bytes(safetensors.torch.save(tensors, metadata=metadata))


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda m: m.update(format=99, trimtab="99.0.0"), "format 99, written by trimtab 99.0.0"),
        (lambda m: m.pop("format"), "has format 1"),
        (lambda m: m.pop("made_by"), "none called made_by"),
        (lambda m: m.update(made_by=3), "made_by must be"),
        (lambda m: m.update(memory=None), "damaged"),
        (lambda m: m.update(counters=[]), "counters must be"),
        (lambda m: m.update(sample_shape=[3, 60000, 60000]), "values at most"),
    ],
)
def test_a_bad_manifest_is_refused_in_one_sentence(
    change: Change, expected: str, backbone: trimtab.Backbone, images: Tensor, tmp_path: Path
) -> None:
    adapter = stream(backbone, images)
    path = tmp_path / "camera.safetensors"
    adapter.save(path)
    rewritten(path, change)
    said = refused(adapter, lambda: adapter.load(path))
    assert expected in said


def test_a_manifest_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "camera.safetensors"
    for text in ("not json", "[1, 2]", '"word"'):
        tensors = {"generator": torch.zeros(1)}
        path.write_bytes(safetensors.torch.save(tensors, metadata={saved.MANIFEST: text}))
        with pytest.raises(ValueError, match="its manifest cannot be read"):
            trimtab.read_manifest(path)


def test_micro_batches_are_part_of_a_states_identity(
    backbone: trimtab.Backbone, images: Tensor
) -> None:
    adapter = trimtab.adapt(backbone, "roid", micro_batch=4)
    adapter(images[:8])
    with pytest.raises(ValueError, match="its micro_batch is 4, here it is None"):
        trimtab.adapt(backbone, "roid").load_state_dict(adapter.state_dict())


def test_a_failed_load_leaves_what_a_reset_returns_to(
    backbone: trimtab.Backbone, images: Tensor
) -> None:
    adapter, twin = stream(backbone, images), stream(backbone, images)
    state = trimtab.adapt(backbone, "roid", window=8, seed=5).state_dict()
    state["sample_shape"] = [3, 8, 8]
    state["params"].popitem()
    refused(adapter, lambda: adapter.load_state_dict(state))
    for other in (adapter, twin):
        other.reset()
    assert torch.equal(adapter(images[:16]), twin(images[:16]))


def test_of_long_settings_the_difference_is_shown(
    backbone: trimtab.Backbone, images: Tensor
) -> None:
    other = trimtab.adapt(backbone, "roid", window=8, lr=0.5)
    said = refused(other, lambda: other.load_state_dict(stream(backbone, images).state_dict()))
    assert "lr=None" in said
    assert "here it is" in said.partition("lr=None")[2]
    assert "lr=0.5" in said
    assert len(said) < 500


def test_a_folder_is_no_saved_state(backbone: trimtab.Backbone, tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder, expected a file that"):
        trimtab.adapt(backbone, "roid").load(tmp_path)
