"""Bad input on the command line: one line that names file and key, exit status 2, nothing done."""

import json
from pathlib import Path

import pytest

from bench.stores import SUITE, tiny_spec
from report import stores
from trimtab.bench.store import RunStore
from trimtab.cli.main import main

RUN = ["run", "--method", "source", "--model", "fashion_vit", "--data", "fashion_mnist"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a refused command says: one line, with status 2, and no result is written."""
    try:
        status = main(words)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else -1
    captured = capsys.readouterr()
    assert status == 2, captured.err
    assert captured.err.startswith("trimtab: ")
    assert captured.err.count("\n") == 1
    assert not list(Path("trimtab-results").glob("runs/*"))
    return captured.err


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("title", "titel", "suite.toml: unknown key of a suite 'titel'"),
        ("scenario =", "scenari =", "suite.toml: [[grid]] 1: unknown field of a run 'scenari'"),
        ("images_per_domain = 3", "images_per_domain = 0", "images_per_domain must be at least 1"),
        ("images_per_domain = 3", "images_per_domain = '8'", "must be a whole number or nothing"),
        (
            "batch_size = 16",
            "batch_size = [[8, 9]]",
            "batch_size must be a whole number, got [8, 9]",
        ),
        ("batch_size = 16", "batch_size = true", "batch_size must be a whole number, got True"),
        ('"tent"', '"tentt"', "suite.toml: method tentt: unknown method 'tentt'"),
        ("lr = 0.01", "lr = [0.01]", "suite.toml: method roid(lr=[0.01])"),
        ("lr = 0.01", "rate = 0.01", "unknown option of roid 'rate'"),
        ('name = "roid", ', "", "a method in brackets needs a name"),
        ('"source"', f'"{"x" * 100_000}"', "method must have 1 to 2,000 characters, got 100,000"),
        ("[[grid]]", 'include = ["suite.toml"]\n[[grid]]', "unknown field of a run 'include'"),
        ('title = "Tiny"', 'include = ["suite.toml"]', "suite.toml includes itself"),
        ('title = "Tiny"', 'include = "suite.toml"', "include must be a list of suites' names"),
        ("[[grid]]", "[grid]", "grid must be tables, each headed [[grid]]"),
        ("seed = [0, 1]", "seed = [", "suite.toml is not valid TOML"),
        ("seed = [0, 1]", f"seed = {'[' * 5000}", "suite.toml is not valid TOML"),
    ],
)
def test_what_is_wrong_with_a_suite_is_named(
    here: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, expected: str
) -> None:
    assert old in SUITE
    (here / "suite.toml").write_text(SUITE.replace(old, new, 1))
    line = told(["bench", "suite.toml"], capsys)
    assert expected in line
    assert line.startswith("trimtab: suite.toml")
    assert len(line) < 1100


def test_suites_that_include_each_other_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "a.toml").write_text('include = ["b.toml"]')
    (here / "b.toml").write_text('include = ["a.toml"]')
    assert "a.toml > b.toml > a.toml" in told(["bench", "a.toml"], capsys)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["bench", "nowhere.toml"], "nowhere.toml"),
        (["bench", "quick", "--threads", "100000"], "--threads: must be a whole number from 1 to"),
        (["bench", "quick", "--threads", "-1"], "--threads: must be a whole number from 1 to"),
        (["bench", "quick", "--workers", "0"], "--workers: must be a whole number from 1 to"),
        (["bench", "quick", "--set", "sed=1"], "unknown field of a run 'sed'"),
        (["bench", "quick", "--set", "seed"], "expected NAME=VALUE, got 'seed'"),
        (
            ["bench", "quick", "--set", "images_per_domain=0"],
            "images_per_domain must be at least 1",
        ),
        (["bench", "quick", "--only", "no such text"], "has no such text in its spec"),
        ([*RUN, "--images-per-domain", "0"], "images_per_domain must be at least 1, got 0"),
        ([*RUN, "--seed", "9" * 30], "seed must lie in"),
        ([*RUN, "--scenario", "[/b]"], "[/b]"),
        (["run", "--method", "x" * 100_000, *RUN[3:]], "method must have 1 to 2,000 characters"),
        (["bench", "q" * 100_000], "unknown suite"),
        ([*RUN, "--method", "tent", "--option", "weighting=False"], "unknown option of tent"),
        (["report", "[/b]"], "[/b]"),
        (["reproduce", "[/b]"], "unknown experiment '[/b]'"),
        (["bnech"], "invalid choice: 'bnech'"),
        (["list", "everything"], "invalid choice: 'everything'"),
    ],
)
def test_what_is_wrong_with_an_argument_is_named(
    capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    assert expected in told(words, capsys)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"status": "done"', '"status": "dne"', "status must be 'done' or 'failed', got 'dne'"),
        ('"error": 0.2', '"error": "much"', "error must be a number, got 'much'"),
        ('"error": 0.2', '"error": NaN', "error must be a number, got nan"),
        ('"collapsed": false', '"collapsed": 7', "collapsed must be true or false"),
        ('"spec": {', '"spec": 3, "rest": {', "spec must be a JSON object, got 3"),
        ('"curve"', '"curv"', "curv"),
        ("{", "[", "is damaged"),
        ("{", "", "is damaged"),
    ],
)
def test_a_damaged_result_is_named_by_its_file(
    here: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, expected: str
) -> None:
    store = stores.write(here / "store", [stores.done(stores.spec(), 0.2)])
    [file] = (store / "runs").glob("*.json")
    text = file.read_text()
    assert json.loads(text)
    file.write_text(text.replace(old, new, 1))
    line = told(["report", "store"], capsys)
    assert file.name in line
    assert expected in line


def test_a_damaged_result_stops_a_suite_before_its_first_run(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from trimtab.bench.plan import with_fingerprints

    [spec] = with_fingerprints([tiny_spec()])
    RunStore("store").put(stores.done(spec, 0.2))
    [file] = Path("store/runs").glob("*.json")
    file.write_bytes(b"\xff\x00" + file.read_bytes()[:100])
    words = ["run", "--method", "source", "--model", spec.model, "--data", spec.data, "--store"]
    words += ["store", "--images-per-domain", "8", "--batch-size", "8"]
    assert file.name in told(words, capsys)


def test_false_is_no_truthy_text(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[object] = []

    def noting(specs: object, *_: object, **__: object) -> list[object]:
        found.extend(specs)  # type: ignore[arg-type]
        return []

    monkeypatch.setattr("trimtab.bench.run_specs", noting, raising=False)
    words = [*RUN, "--method", "roid", "--option", "weighting=False", "--option", "lr=1e-3"]
    main([*words, "--option", "prior=posterior", "--option", "ensembling=null"])
    [spec] = found
    options = {"weighting": False, "lr": 0.001, "prior": "posterior", "ensembling": None}
    assert dict(spec.options) == options  # type: ignore[attr-defined]
    main(["bench", "quick", "--set", "window=None", "--set", "severity=3", "--dry-run"])
    assert "--severity 3" in capsys.readouterr().out


@pytest.mark.parametrize(("words", "expected"), [([], "COMMAND"), (["list"], "methods,components")])
def test_a_command_alone_shows_help(
    capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: trimtab")
    assert expected in shown


@pytest.mark.parametrize("what", ["methods", "components", "data", "scenarios", "suites"])
def test_lists_fit_and_have_no_raw_backticks(capsys: pytest.CaptureFixture[str], what: str) -> None:
    assert main(["list", what]) == 0
    shown = capsys.readouterr().out
    assert "`" not in shown
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= 80
