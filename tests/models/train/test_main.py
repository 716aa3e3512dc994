"""The recipe from the command line, on a handful of images."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from trimtab import models
from trimtab.models.train import __main__ as command


def test_trains_measures_and_writes_weights_that_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = torch.Generator().manual_seed(0)
    data = {}
    for part, count in (("train", 40), ("test", 10)):
        size = (count, 32, 32, 3)
        data[f"{part}_images"] = torch.randint(0, 256, size, dtype=torch.uint8, generator=draw)
        data[f"{part}_labels"] = torch.arange(count, dtype=torch.uint8) % 10
    save_file(data, tmp_path / "data")
    save_file({"logits": torch.zeros(2, 40, 10)}, tmp_path / "teacher")
    name = "fashion_resnet20_gn"
    recipe = replace(command.RECIPES[name], epochs=2, small_epochs=1, batch_size=8, held_out=8)  # type: ignore[attr-defined]
    monkeypatch.setitem(command.RECIPES, name, recipe)  # type: ignore[attr-defined]
    words = f"train {name} --data data --teacher teacher --checkpoints c --out out"
    monkeypatch.setattr("sys.argv", words.split())
    monkeypatch.chdir(tmp_path)
    command.main()
    printed = capsys.readouterr().out
    assert "epoch 2/2" in printed
    assert f"{name}: " in printed
    assert "% of 10 test images" in printed
    models.build(name, weights=tmp_path / "out" / f"{name}.safetensors")
    assert load_file(tmp_path / "out" / f"{name}.safetensors")["linear.bias"].abs().sum() > 0


def test_a_group_norm_net_can_start_from_a_batch_norm_net() -> None:
    source = models.MODELS["cifar_resnet20"].make(10).state_dict()
    model = models.MODELS["cifar10_resnet20_gn"].make(10)
    command.start_from(model, source)
    assert all(torch.equal(value, source[name]) for name, value in model.state_dict().items())
