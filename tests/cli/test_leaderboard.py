"""``trimtab leaderboard``, and the file that ``trimtab bench --submission`` writes for it."""

import json
from pathlib import Path

import pytest

from trimtab.cli.main import main

SUITE = """
[defaults]
data = "fashion_mnist"
model = "fashion_resnet20_bn"
scenario = ["continual", "mixed"]
images_per_domain = 2
batch_size = 15
seed = 1
[[grid]]
method = ["source", "bn1"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The submissions of two people, and a file that somebody has edited."""
    place = tmp_path_factory.mktemp("board")
    (place / "board.toml").write_text(SUITE)
    common = ["bench", str(place / "board.toml"), "--store", str(place / "store"), "--workers", "1"]
    assert main([*common, "--submission", str(place / "ada.json"), "--by", "Ada"]) == 0
    other = ["--set", "method=bn_alpha", "--submission", str(place / "bob.json"), "--by", "Bob"]
    assert main([*common, *other]) == 0
    return place


@pytest.mark.slow
def test_a_page_of_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["leaderboard", str(folder), "--suite", str(folder / "board.toml"), "--title", "Ours"]
    assert main(asked) == 0
    assert "2 methods, 0 refused" in capsys.readouterr().err
    text = (folder / "leaderboard.html").read_text()
    for words in ("<h1>Ours</h1>", ">Ada<", ">Bob<", ">BN-1<", ">BN-alpha<", "Fashion-MNIST"):
        assert words in text


@pytest.mark.slow
def test_known_results_are_not_made_again_and_are_handed_on(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", str(folder / "board.toml"), "--store", str(tmp_path), "--workers", "1"]
    both = tmp_path / "both.json"
    asked = [*words, "--only", "mixed", "--known", str(folder / "ada.json")]
    assert main([*asked, "--submission", str(both)]) == 0
    assert "2 of them done already" in capsys.readouterr().out
    known, new = (json.loads(path.read_text()) for path in (folder / "ada.json", both))
    assert new["results"] == known["results"]  # the other setting's, too
    assert main([*words, "--known", str(tmp_path / "none.json")]) == 2
    assert "--known must be a submission or a folder of results" in capsys.readouterr().err


def test_an_edited_file_is_refused_and_the_others_stay(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ada", "bob"):
        (tmp_path / f"{name}.json").write_text((folder / f"{name}.json").read_text())
    values = json.loads((folder / "bob.json").read_text())
    values["results"][0]["scores"]["error"] = 0.0
    (tmp_path / "bob.json").write_text(json.dumps(values))
    assert main(["leaderboard", str(tmp_path), "--suite", str(folder / "board.toml")]) == 1
    told = capsys.readouterr().err
    assert "refused: bob.json, all of it: no submission that can be read: its hash" in told
    assert "1 method, 1 refused" in told
    assert "changed after it was written" in (tmp_path / "leaderboard.html").read_text()


def test_a_board_of_other_streams_takes_none_of_them(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["leaderboard", str(folder), "--suite", str(folder / "board.toml")]
    assert main([*asked, "--set", "severity=3", "--out", str(tmp_path / "page.html")]) == 1
    assert "severity 5" in capsys.readouterr().err
    assert "No submission compares" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_the_streams_of_a_board_can_be_fewer(folder: Path, tmp_path: Path) -> None:
    asked = ["leaderboard", str(folder), "--suite", str(folder / "board.toml"), "--only", "mixed"]
    assert main([*asked, "--out", str(tmp_path / "page.html")]) == 0
    assert "1 stream: severity 5" in (tmp_path / "page.html").read_text()


def test_a_submission_can_be_reported(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "table.md"
    assert main(["report", str(folder / "ada.json"), "--out", str(out)]) == 0
    assert "BN-1" in out.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "expected submissions (*.json) in nowhere, found none"),
        ([".", "--tolerance", "-1"], "--tolerance must be 0 or more points"),
        ([".", "--only", "nothing"], "no run of shipped has nothing in its spec"),
        ([".", "--suite", "shiped"], "shiped"),
    ],
)
def test_what_is_asked_wrongly_is_said_in_one_line(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["leaderboard", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
