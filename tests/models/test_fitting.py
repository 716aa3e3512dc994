"""Putting tensors into a network: names of all spellings, and the first mismatch."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from trimtab.models.fitting import fit, take_normalization

FILE = Path("some.pth")


def make() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))


def tensors() -> dict[str, Tensor]:
    torch.manual_seed(2)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).state_dict()


@pytest.mark.parametrize("prefix", ["", "module.", "model.", "net.", "module.model.", "_orig_mod."])
def test_understands_the_usual_prefixes(prefix: str) -> None:
    model = make()
    fit(model, {prefix + name: value for name, value in tensors().items()}, FILE)
    assert torch.equal(model.state_dict()["0.weight"], tensors()["0.weight"])


def test_keeps_a_prefix_that_is_the_networks_own() -> None:
    model = nn.Module()
    model.add_module("net", nn.Linear(2, 2))
    wanted = {"net.weight": torch.ones(2, 2), "net.bias": torch.ones(2)}
    fit(model, wanted, FILE)
    assert torch.equal(model.state_dict()["net.weight"], torch.ones(2, 2))


def test_translates_other_spellings() -> None:
    model = make()
    renamed = {name.replace("0.", "stem.", 1): value for name, value in tensors().items()}
    fit(model, renamed, FILE, renames=((r"^stem\.", "0."),))
    assert torch.equal(model.state_dict()["0.bias"], tensors()["0.bias"])


def test_takes_half_precision() -> None:
    model = make()
    halved = {n: v.half() if v.is_floating_point() else v for n, v in tensors().items()}
    fit(model, halved, FILE)
    assert torch.equal(model.state_dict()["0.bias"], tensors()["0.bias"].half().float())


def test_does_without_counts_of_batches() -> None:
    old = {name: value for name, value in tensors().items() if "num_batches" not in name}
    model = make()
    fit(model, old, FILE)
    assert all(torch.equal(model.state_dict()[name], value) for name, value in old.items())


def without(name: str) -> dict[str, Tensor]:
    return {key: value for key, value in tensors().items() if key != name}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (without("1.bias"), "it has no '1.bias' "),
        ({**tensors(), "2.bias": torch.ones(1)}, "it has '2.bias', which is unknown here"),
        (
            {**tensors(), "0.weight": torch.ones(8, 3, 3, 3)},
            r"'0.weight' should have the shape \(4, 3, 3, 3\), it has \(8, 3, 3, 3\)",
        ),
        ({**tensors(), "0.bias": torch.full((4,), torch.nan)}, "'0.bias' has values that are not"),
        (
            {**tensors(), "0.bias": torch.ones(4, dtype=torch.int64)},
            "'0.bias' should be of type torch.float",
        ),
        ({"a": torch.ones(1)}, "it has no '0.weight' .*its 1 tensors begin with 'a'"),
        ({}, "it has no '0.weight' .*its 0 tensors"),
    ],
)
def test_names_the_file_and_the_first_mismatch(wrong: dict[str, Tensor], message: str) -> None:
    model = make()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    with pytest.raises(ValueError, match=rf"^some\.pth does not fit Sequential: {message}"):
        fit(model, wrong, FILE)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_takes_out_what_a_file_says_about_normalisation() -> None:
    content = {"mu": torch.full((1, 3, 1, 1), 0.5), "sigma": torch.full((3,), 0.25), **tensors()}
    assert take_normalization(content) == {"mean": (0.5,) * 3, "std": (0.25,) * 3}
    assert set(content) == set(tensors())
