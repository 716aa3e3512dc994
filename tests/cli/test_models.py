"""``trimtab models``."""

from pathlib import Path

import pytest
import torch

from trimtab.cli.main import main
from trimtab.cli.models import agrees
from trimtab.models import MODELS
from trimtab.models.validation import VALIDATION


def test_the_table_has_every_network(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    words = capsys.readouterr().out.split()
    assert set(MODELS) <= set(words)


def test_the_table_marks_the_networks_that_are_for_choosing_constants_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    marked = [line.split()[0] for line in lines if line.rstrip().endswith("shipped *")]
    assert marked == list(VALIDATION)
    assert any(line.startswith("* only for choosing constants") for line in lines)


def test_the_table_fits_80_columns_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert "…" not in shown
    assert "torchvision" in shown


def test_one_network_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "show", "swin_v2_t"]) == 0
    shown = capsys.readouterr().out
    for part in ("256 px", "resize 260 bicubic", "mean 0.485", "82.07 %", "b137f0e2"):
        assert part in shown


@pytest.mark.slow
def test_a_shipped_network_passes_its_check(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "check", "fashion_resnet20_bn"]) == 0
    shown = capsys.readouterr().out
    assert "SHA-256 is as stated" in shown
    assert "of 4000 images; the table: 92.31 %" in shown


def test_a_check_without_data_says_so(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    torch.save(MODELS["cifar_resnet20"].make(10).state_dict(), tmp_path / "w.pth")
    assert main(["models", "check", "cifar_resnet20", "--weights", str(tmp_path / "w.pth")]) == 0
    assert "not measured: CIFAR-10 was looked for at" in capsys.readouterr().out


def test_a_wrong_file_is_an_error_without_a_traceback(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "w.pth").write_text("hello")
    assert main(["models", "check", "cifar_resnet20", "--weights", str(tmp_path / "w.pth")]) == 2
    assert "w.pth is neither a safetensors nor a torch file" in capsys.readouterr().err


def test_accuracies_agree_to_two_digits_or_within_sampling() -> None:
    assert agrees(92.31, 92.31, 10_000)
    assert not agrees(92.41, 92.31, 10_000)
    assert agrees(91.5, 92.31, 4000)
    assert not agrees(90.9, 92.31, 4000)
