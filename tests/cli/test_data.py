"""``trimtab data``."""

from pathlib import Path

import pytest

from trimtab.cli.main import main


def test_a_source_that_is_not_there_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["data", "cifar10", "--from", str(tmp_path / "nothing")]) == 2
    assert "expected an archive or a directory of CIFAR-10 at" in capsys.readouterr().err


def test_an_unknown_dataset_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["data", "cifar11"])
    assert "cifar10" in capsys.readouterr().err
