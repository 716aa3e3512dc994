"""docs/add-a-method.md, followed to the letter, in a folder that has nothing to do with ours."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from trimtab.bench import RunStore
from trimtab.cli import bench
from trimtab.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "add-a-method.md"
FILE = re.compile(r"`([a-z_]+\.(?:py|toml))`:\n\n```\w+\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.slow
def test_the_page_works_outside_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.read_text()
    monkeypatch.setattr(bench, "CORES", 1)  # as on such a machine: no processes that import torch
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", str(tmp_path))])
    files = dict(FILE.findall(page))
    assert files.keys() == {"steady_tent.py", "mine.toml", "test_steady_tent.py", "pyproject.toml"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    commands = [line for line in page.splitlines() if line.startswith("trimtab ")]
    assert len(commands) == 3
    try:
        for command in commands:
            assert main(shlex.split(command)[1:]) == 0, capsys.readouterr().err
        names: dict[str, object] = {}
        exec(compile(files["test_steady_tent.py"], "test_steady_tent.py", "exec"), names)
        check = names["test_steady_tent_keeps_the_contract"]
        assert callable(check)
        check()
    finally:
        sys.modules.pop("steady_tent", None)
    [alone] = RunStore("trimtab-results")
    assert alone.status == "done"
    assert [result.status for result in RunStore("mine")] == ["done"] * 6
    assert "| steady\\_tent |" in capsys.readouterr().out
