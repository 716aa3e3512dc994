"""What users copy runs as it is: every script of examples/, and every notebook cell by cell."""

import importlib.util
import json
import runpy
import socket
import sys
from pathlib import Path
from types import ModuleType

import pytest

from trimtab.models.missing_operators import import_torchvision

EXAMPLES = Path(__file__).parents[2] / "examples"
MAKER = EXAMPLES / "make_notebooks.py"
SCRIPTS = sorted(set(EXAMPLES.glob("*.py")) - {MAKER})
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
ALONE = [script for script in SCRIPTS if script.with_suffix(".ipynb") not in NOTEBOOKS]
"""Scripts without a notebook. The others' lines run as cells, which are those lines: see below."""
MOST_LINES = 60

PRINTED = {
    "camera": "90 samples seen, 2 updates",
    "compare_methods": "roid: ",
    "folder_of_images": "20 predicted, 0 were there, 0 unreadable",
    "health_and_rollback": "kept moments: ['before the night']",
    "own_method": "300 samples seen, 15 updates",
    "own_model": "64 samples seen, 4 updates",
    "server_and_client": "['camera-0', 'camera-1']",
    "single_samples": "the same afterwards: True",
    "torchrun": "ROID on 1 ranks: ",
}
"""Words at or near the end of what each prints, which nothing prints that stopped half-way."""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    import_torchvision()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    group = {"RANK": 0, "WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    for name, value in group.items():  # as torchrun would set them for a single process
        monkeypatch.setenv(name, str(value))


@pytest.mark.slow
@pytest.mark.parametrize("script", ALONE, ids=lambda script: script.stem)
def test_a_script_runs_as_it_is(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [str(script)])
    runpy.run_path(str(script), run_name="__main__")
    assert PRINTED[script.stem] in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_runs_cell_by_cell(notebook: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), notebook.name, "exec"), names)
    assert PRINTED[notebook.stem] in capsys.readouterr().out


def test_scripts_are_short_enough_to_copy() -> None:
    lengths = {script.stem: len(script.read_text().splitlines()) for script in SCRIPTS}
    assert len(lengths) >= 8
    assert max(lengths.values()) <= MOST_LINES, lengths


def test_notebooks_are_what_the_scripts_make(maker: ModuleType) -> None:
    assert {notebook.stem for notebook in NOTEBOOKS} == set(maker.SCRIPTS)
    for notebook in NOTEBOOKS:
        made = maker.notebook(notebook.with_suffix(".py").read_text(encoding="utf-8"))
        assert notebook.read_text(encoding="utf-8") == made, f"run: python {MAKER.name}"


@pytest.fixture
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_notebooks", MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
