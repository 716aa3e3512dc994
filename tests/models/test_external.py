"""Networks of timm."""

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from trimtab import models
from trimtab.models.missing_operators import import_torchvision


@pytest.fixture
def timm() -> Any:
    import_torchvision()
    return importlib.import_module("timm")


def test_builds_a_timm_network_with_its_own_preset(timm: Any) -> None:
    entry = models.describe("timm/resnet10t")
    config = timm.get_pretrained_cfg("resnet10t")
    assert entry.preprocessing.input_size == config.input_size[-1]
    assert entry.preprocessing.mean == config.mean
    model = models.build("timm/resnet10t", weights="random", num_classes=5)
    assert model(torch.rand(1, 3, 64, 64)).shape == (1, 5)


def test_takes_a_local_file_for_a_timm_network(timm: Any, tmp_path: Path) -> None:
    source = timm.create_model("resnet10t", num_classes=5).eval()
    save_file(source.state_dict(), tmp_path / "w")
    model = models.build("timm/resnet10t", weights=tmp_path / "w", num_classes=5)
    inputs = torch.rand(1, 3, 64, 64)
    mean, std = (torch.tensor(source.default_cfg[k]).view(1, 3, 1, 1) for k in ("mean", "std"))
    torch.testing.assert_close(model(inputs), source((inputs - mean) / std))


def test_an_unknown_timm_network_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"timm has no model 'resnet17'; .* resnet18"):
        models.load("timm/resnet17")


def test_timms_weights_that_cannot_be_found_say_where_they_were_looked_for(
    timm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable(*_: object, **__: object) -> None:
        raise RuntimeError("no network")

    monkeypatch.setattr(timm, "create_model", unreachable)
    with pytest.raises(OSError, match=r"timm/resnet10t were looked for at timm .*no network"):
        models.load("timm/resnet10t")


def test_timms_weights_keep_their_number_of_classes() -> None:
    with pytest.raises(ValueError, match="have 1000 classes, not 5"):
        models.load("timm/resnet10t", num_classes=5)
