"""``trimtab report``."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from report import stores
from trimtab.cli.main import main


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stores.write(tmp_path / "new", stores.three_methods())


def test_the_page_lands_in_the_store(store: Path) -> None:
    assert main(["report", str(store)]) == 0
    text = (store / "report.html").read_text()
    assert text.startswith("<!doctype html>")
    assert "<h1>new</h1>" in text


def test_the_user_names_the_page(store: Path) -> None:
    assert main(["report", str(store), "--title", "Night <shift>"]) == 0
    assert "<h1>Night &lt;shift&gt;</h1>" in (store / "report.html").read_text()


def test_other_formats_go_to_the_terminal(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(store), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 6


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("a.md", "Share"), ("a.csv", "method,"), ("a.tex", "%"), ("a.json", "{"), ("a.html", "<!")],
)
def test_the_name_of_the_file_says_the_format(store: Path, name: str, beginning: str) -> None:
    path = store.parent / name
    assert main(["report", str(store), "--out", str(path)]) == 0
    assert path.read_text().startswith(beginning)


def test_an_unknown_ending_is_refused(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(store), "--out", "a.pdf"]) == 2
    assert "must end in one of .html .md .csv .tex .json" in capsys.readouterr().err


def test_a_folder_without_results_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert "expected results in" in capsys.readouterr().err


def regressed(store: Path) -> Path:
    """An earlier store in which one method did better by three points."""
    runs = [
        stores.done(run.spec, run.scores.error - 0.03)
        if run.spec.label == "roid" and run.scores is not None
        else run
        for run in stores.three_methods()
    ]
    return stores.write(store.parent / "old", runs)


@pytest.mark.parametrize(("allowed", "status"), [(None, 0), ("3.5", 0), ("2", 2)])
def test_a_regression_fails_only_beyond_what_is_allowed(
    store: Path, allowed: str | None, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", str(store), "--format", "md", "--against", str(regressed(store))]
    if allowed is not None:
        words += ["--fail-on-regression", allowed]
    assert main(words) == status
    captured = capsys.readouterr()
    assert "+3.0 ▲" in captured.out
    assert ("regression: ROID" in captured.err) == (status == 2)


def test_regressions_need_another_store(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(store), "--fail-on-regression", "1"]) == 2
    assert "--against" in capsys.readouterr().err


def test_a_report_is_made_without_torch_and_numpy(store: Path) -> None:
    program = (
        "import sys; from trimtab.cli.main import main; "
        f"main(['report', {str(store)!r}]); "
        "assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
