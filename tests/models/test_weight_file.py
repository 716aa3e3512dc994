"""Reading weight files: tensors only, from any container, or a clear refusal."""

from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from trimtab.models.weight_file import read_tensors

TENSORS = {"weight": torch.arange(6.0).view(2, 3), "bias": torch.ones(2)}


@pytest.mark.parametrize(
    "content",
    [
        TENSORS,
        OrderedDict(TENSORS),
        {"state_dict": TENSORS, "epoch": 3},
        {"model": {"state_dict": TENSORS}},
        {"net": TENSORS, "best": 0.93},
    ],
)
def test_reads_a_torch_file_out_of_its_container(tmp_path: Path, content: object) -> None:
    torch.save(content, tmp_path / "w.pth")
    read = read_tensors(tmp_path / "w.pth")
    assert set(read) == set(TENSORS)
    assert torch.equal(read["weight"], TENSORS["weight"])


def test_reads_a_torch_file_of_the_old_kind(tmp_path: Path) -> None:
    torch.save(TENSORS, tmp_path / "w.pth", _use_new_zipfile_serialization=False)
    assert torch.equal(read_tensors(tmp_path / "w.pth")["bias"], TENSORS["bias"])


def test_reads_safetensors_whatever_the_file_is_called(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "w.bin")
    assert torch.equal(read_tensors(tmp_path / "w.bin")["bias"], TENSORS["bias"])


def test_refuses_a_pickled_module_and_says_why(tmp_path: Path) -> None:
    torch.save(nn.Linear(2, 2), tmp_path / "w.pth")
    named = hasattr(torch.serialization, "get_unsafe_globals_in_checkpoint")  # from torch 2.6 on
    what = r"torch\.nn.*Linear" if named else "unknown"
    with pytest.raises(ValueError, match=rf"w\.pth holds pickled Python objects \({what}"):
        read_tensors(tmp_path / "w.pth")


@pytest.mark.parametrize("share", [0.02, 0.5, 0.99])
@pytest.mark.parametrize("kind", ["torch", "safetensors"])
def test_names_a_truncated_file(tmp_path: Path, kind: str, share: float) -> None:
    path = tmp_path / "w"
    tensors = {f"layer{i}.weight": torch.rand(50, 50) for i in range(10)}
    if kind == "torch":
        torch.save(tensors, path)
    else:
        save_file(tensors, path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ValueError, match=f"{path} is not a whole {kind} file"):
        read_tensors(path)


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x89PNG\r\n\x1a\n"])
def test_names_a_file_that_is_something_else(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w.pth").write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.pth is neither a safetensors nor a torch file"):
        read_tensors(tmp_path / "w.pth")


@pytest.mark.parametrize("content", [{"epoch": 3}, [torch.ones(2)], {"state_dict": {"a": 1}}])
def test_says_where_it_looked_for_a_state_dict(tmp_path: Path, content: object) -> None:
    torch.save(content, tmp_path / "w.pth")
    with pytest.raises(ValueError, match=r"w\.pth holds no state dict; looked .* state_dict"):
        read_tensors(tmp_path / "w.pth")


def test_names_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no weight file at"):
        read_tensors(tmp_path / "w.pth")
