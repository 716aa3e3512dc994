"""Taking tensors out of a pickled module with an explicit list of what it may name."""

import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

from trimtab.models.pickled_module import tensors_of_pickled_module

LAYER = "torch.nn.modules.linear.Linear"


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 2)


OLD = not hasattr(torch.serialization, "get_unsafe_globals_in_checkpoint")
new_enough = pytest.mark.skipif(OLD, reason="needs torch 2.6")


def test_an_old_torch_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "get_unsafe_globals_in_checkpoint"
    monkeypatch.delattr(torch.serialization, name, raising=False)
    with pytest.raises(ImportError, match=r"needs torch 2\.6 or newer, this is 2\."):
        tensors_of_pickled_module(tmp_path / "net.pth", [LAYER])


@new_enough
def test_gives_the_tensors_without_the_modules_class(tmp_path: Path) -> None:
    net = Net()
    torch.save(net, tmp_path / "net.pth")
    own = f"{Net.__module__}.Net"
    tensors = tensors_of_pickled_module(tmp_path / "net.pth", [LAYER, own])
    assert set(tensors) == {"fc.weight", "fc.bias"}
    assert torch.equal(tensors["fc.weight"], net.fc.weight)


@new_enough
def test_refuses_what_is_not_allowed(tmp_path: Path) -> None:
    torch.save(Net(), tmp_path / "net.pth")
    with pytest.raises(pickle.UnpicklingError, match="Net"):
        tensors_of_pickled_module(tmp_path / "net.pth", [LAYER])


def test_allows_no_function_of_torch() -> None:
    with pytest.raises(ValueError, match=r"only layers of torch\.nn .* got 'torch\.hub\.load'"):
        tensors_of_pickled_module("net.pth", ["torch.hub.load"])
