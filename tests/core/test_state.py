"""States as files: whole or not at all, and only for the stream they belong to."""

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from same import assert_same
from trimtab.core import files


@pytest.fixture
def saved(tmp_path: Path, recorded: dict[str, Tensor], images: Tensor) -> Path:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "roid")
    adapter(images[:16])
    path = tmp_path / "camera.safetensors"
    adapter.save(path)
    return path


def test_the_manifest_can_be_read_by_people_and_programs(saved: Path) -> None:
    manifest = trimtab.read_manifest(saved)
    assert json.loads(Path(f"{saved}.json").read_text()) == manifest
    assert manifest["trimtab"] == trimtab.__version__
    assert manifest["counters"]["samples"] == 16
    assert "SoftLikelihoodRatio" in manifest["made_by"]["method"]
    assert manifest["made_by"]["backbone's model"] == "Net"


def test_another_models_state_is_refused(saved: Path, recorded: dict[str, Tensor]) -> None:
    model = nets.trained("gn", recorded)
    with torch.no_grad():
        model.classifier.bias.add_(1)
    adapter = trimtab.adapt(model, "roid")
    with pytest.raises(ValueError, match=r"backbone's values is [0-9a-f]{16}, here it is"):
        adapter.load(saved)
    assert adapter.sample_shape is None


def test_another_methods_state_is_refused(saved: Path, recorded: dict[str, Tensor]) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "roid", ensembling=0.9)
    with pytest.raises(ValueError, match=r"(?s)its method is .*0\.99.*here it is .*0\.9\b"):
        adapter.load(saved)


def test_another_windows_state_is_refused(saved: Path, recorded: dict[str, Tensor]) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "roid", window=8)
    with pytest.raises(ValueError, match="its window is None, here it is 8"):
        adapter.load(saved)


def test_a_truncated_file_is_refused(saved: Path, recorded: dict[str, Tensor]) -> None:
    saved.write_bytes(saved.read_bytes()[:-100])
    adapter = trimtab.adapt(nets.trained("gn", recorded), "roid")
    with pytest.raises(
        ValueError, match=r"camera\.safetensors is not a saved state, or is damaged"
    ):
        adapter.load(saved)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    files.write_whole(other, b"not tensors at all")
    with pytest.raises(ValueError, match=r"other\.safetensors is not a saved state"):
        trimtab.read_manifest(other)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "state"
    files.write_whole(target, b"old")

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        files.write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_state_taken_before_the_first_batch_can_be_loaded(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained("bn", recorded))
    fresh, used = trimtab.adapt(backbone, "roid"), trimtab.adapt(backbone, "roid")
    state = fresh.state_dict()
    used(images[:16])
    used.load_state_dict(state)
    assert torch.equal(used(images[:16]), fresh(images[:16]))


def test_reset_after_a_load_goes_to_the_saved_streams_start(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    backbone = trimtab.Backbone(nets.trained("ln", recorded))
    first = trimtab.adapt(backbone, "roid", seed=4)
    expected = [first(images[:16]), first(images[16:32])]
    second = trimtab.adapt(backbone, "roid", seed=9)
    second.load_state_dict(first.state_dict())
    second.reset()
    assert torch.equal(second(images[:16]), expected[0])
    assert torch.equal(second(images[16:32]), expected[1])


@pytest.mark.parametrize("method", ["cotta(views=2)", "rmt", "memo(views=2)"])
def test_weights_with_their_channels_innermost_go_on_to_the_bit_after_a_load(
    method: str, model: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    backbone = trimtab.Backbone(model.to(memory_format=torch.channels_last))  # type: ignore[call-overload]
    adapter = trimtab.adapt(backbone, method)
    adapter(images[:16])
    adapter.save(tmp_path / "state")
    restored = trimtab.adapt(backbone, method)
    restored.load(tmp_path / "state")
    for name, value in adapter.params.items():
        assert restored.params[name].stride() == value.stride(), name
    for batch in images[16:48].split(16):
        assert torch.equal(restored(batch), adapter(batch))
    assert_same(restored.state_dict(), adapter.state_dict())
