"""Images on disk in, a table of predictions out."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import trimtab
from predict.pictures import tiny_net, write
from same import assert_same
from trimtab import models
from trimtab.cli.main import main
from trimtab.core.saved import read
from trimtab.predict.journal import Journal
from trimtab.streams.embedded import CLASSES
from trimtab.streams.image_files import read_image


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text())))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_five_lines_of_python_do_what_an_adapter_does(here: Path) -> None:
    write(here / "images", 20)
    summary = trimtab.predict_images("images", method="roid", batch_size=8)
    rows = table(here / "predictions.csv")
    assert [row["image"] for row in rows] == [f"images/{n:03}.png" for n in range(20)]
    assert [row["sample"] for row in rows] == [str(n) for n in range(1, 21)]
    adapter = trimtab.adapt(models.load("fashion_resnet20_bn"), "roid")
    files = sorted(Path("images").iterdir())
    pixels = torch.from_numpy(np.stack([read_image(file) for file in files]))
    inputs = pixels.permute(0, 3, 1, 2) / 255
    expected = torch.cat([adapter(batch.contiguous()) for batch in inputs.split(8)])
    assert [int(row["class"]) for row in rows] == expected.argmax(1).tolist()
    sure = expected.softmax(1).amax(1)
    torch.testing.assert_close(
        torch.tensor([float(row["confidence"]) for row in rows]), sure, atol=1e-6, rtol=0
    )
    assert [row["name"] for row in rows] == [CLASSES[int(row["class"])] for row in rows]
    assert_same(summary.adapter.state_dict(), adapter.state_dict())


@pytest.mark.slow
def test_a_killed_process_goes_on_and_learns_nothing_twice(tmp_path: Path) -> None:
    write(tmp_path / "images", 52)
    (tmp_path / "images" / "006_bad.png").write_bytes(b"no image")
    write(tmp_path / "more", 8)
    done = subprocess.run(
        [sys.executable, "-m", "predict.crashes", str(tmp_path)],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 12  # so many were killed before one came to its end
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    assert killed.read_bytes() == whole.read_bytes()
    states = [read(f"{path}.state.safetensors", torch.device("cpu")) for path in (whole, killed)]
    for state in states:
        del state["saved"]
    assert_same(*states)
    assert states[0]["counters"]["samples"] == 60
    assert [row["image"] for row in table(whole) if row["error"]] == [
        str(tmp_path / "images" / "006_bad.png")
    ]


def test_a_state_goes_on_with_other_images(here: Path) -> None:
    files = write(here / "images", 12)
    options: dict[str, Any] = {"model": tiny_net(), "method": "tent", "batch_size": 4}
    trimtab.predict_images(files, out="whole.csv", **options)
    trimtab.predict_images(files[:8], out="a.csv", state="s", **options)
    summary = trimtab.predict_images(files[8:], out="b.csv", state="s", **options)
    assert (summary.predicted, summary.earlier) == (4, 0)
    assert table(here / "a.csv") + table(here / "b.csv") == table(here / "whole.csv")


def test_new_images_in_a_folder_are_taken_up_and_old_ones_are_not_predicted_twice(
    here: Path,
) -> None:
    write(here / "images", 6)
    options: dict[str, Any] = {"model": tiny_net(), "method": "tent"}
    trimtab.predict_images("images", **options)
    first = table(here / "predictions.csv")
    Image.new("RGB", (32, 32)).save(here / "images" / "0000.png")
    summary = trimtab.predict_images("images", **options)
    assert (summary.predicted, summary.earlier) == (1, 6)
    assert table(here / "predictions.csv")[:6] == first
    assert table(here / "predictions.csv")[6]["image"] == "images/0000.png"


def test_what_cannot_fit_is_refused_and_left_as_it_is(here: Path) -> None:
    write(here / "images", 2)
    (here / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"table.csv has predictions already"):
        trimtab.predict_images("images", tiny_net(), out="table.csv")
    trimtab.predict_images("images", tiny_net(), "tent", state="s")
    for text, message in (("a,b\n1,2\n", "it begins with 'a,b'"), ("photo", "give another --out")):
        (here / "table.csv").write_text(text)
        with pytest.raises(ValueError, match=message):
            trimtab.predict_images("images", tiny_net(), "tent", out="table.csv", state="s")
        assert (here / "table.csv").read_text() == text
    before = (here / "predictions.csv").read_bytes()
    with pytest.raises(ValueError, match="this state belongs to another stream: its method"):
        trimtab.predict_images("images", tiny_net(), "roid", state="s")
    assert (here / "predictions.csv").read_bytes() == before


def test_a_table_that_another_process_writes_is_left_to_it(here: Path) -> None:
    import fcntl

    write(here / "images", 2)
    trimtab.predict_images("images", tiny_net(), "tent")
    with (here / "predictions.csv").open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(ValueError, match="another process is writing"):
            trimtab.predict_images("images", tiny_net(), "tent")


def test_of_two_processes_with_one_state_the_second_to_write_stops(here: Path) -> None:
    files, net = write(here / "images", 12), tiny_net()
    options: dict[str, Any] = {"state": "s", "batch_size": 4, "checkpoint_seconds": 0}
    found: list[bytes] = []

    def meanwhile(summary: Any) -> None:
        if summary.predicted == 8:
            trimtab.predict_images(files[:4], net, "tent", out="b.csv", **options)
            found.append((here / "s").read_bytes())

    with pytest.raises(ValueError, match="another process has gone on with the stream of s"):
        trimtab.predict_images(files, net, "tent", out="a.csv", progress=meanwhile, **options)
    assert (here / "s").read_bytes() == found[0]
    assert len(table(here / "a.csv")) == 4
    trimtab.predict_images(files, net, "tent", out="a.csv", **options)
    samples = [int(row["sample"]) for out in ("a.csv", "b.csv") for row in table(here / out)]
    assert sorted(samples) == list(range(1, 17))


@pytest.mark.parametrize(
    ("out", "state", "expected"),
    [
        ("x", "x", "would be written over the table x"),
        ("x.json", "./x", r"would be written over the table x\.json"),
        ("images", "s", "images is a folder, expected a file for the table"),
        ("x", "images", "images is a folder, expected a file for the state"),
    ],
)
def test_table_and_state_are_files_of_their_own(
    out: str, state: str, expected: str, here: Path
) -> None:
    write(here / "images", 2)
    with pytest.raises(ValueError, match=expected):
        trimtab.predict_images("images", tiny_net(), "tent", out=out, state=state)
    assert [path.name for path in here.iterdir()] == ["images"]


def test_an_interrupted_call_commits_what_is_in_step(here: Path) -> None:
    write(here / "images", 10)
    net = tiny_net()

    def stop(summary: Any) -> None:
        if summary.predicted == 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trimtab.predict_images("images", net, "tent", batch_size=4, progress=stop)
    assert len(table(here / "predictions.csv")) == 8
    summary = trimtab.predict_images("images", net, "tent", batch_size=4)
    assert (summary.predicted, summary.earlier) == (2, 8)


def test_rows_of_an_interrupted_commit_are_not_written_twice(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "images", 10)
    net, append, stops = tiny_net(), Journal.append, ["5"]
    options: dict[str, Any] = {"batch_size": 4, "checkpoint_seconds": 0}

    def interrupted(journal: Journal, rows: list[list[str]]) -> None:
        append(journal, rows)
        if rows[0][4] in stops:
            stops.clear()
            raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "append", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trimtab.predict_images("images", net, "tent", **options)
    trimtab.predict_images("images", net, "tent", **options)
    assert [row["sample"] for row in table(here / "predictions.csv")] == [
        str(number) for number in range(1, 11)
    ]


def test_images_of_another_size_are_fitted_or_passed_over(here: Path) -> None:
    write(here / "images", 2)
    Image.new("L", (70, 50), 9).save(here / "images" / "wide.png")
    summary = trimtab.predict_images("images", tiny_net(), "tent", out="a.csv")
    [(name, error)] = summary.bad
    assert name == "images/wide.png"
    assert "70 x 50 pixels, the stream 32 x 32; say with size=" in error
    fitted = trimtab.predict_images("images", tiny_net(), "tent", out="b.csv", size=24)
    assert (fitted.predicted, fitted.bad) == (3, [])
    assert fitted.adapter.state.sample_shape == (3, 24, 24)


def test_names_of_classes_come_from_a_file(here: Path) -> None:
    write(here / "images", 3)
    (here / "names.txt").write_text("ant\nbee\ncat\n")
    (here / "names.json").write_text(json.dumps(["ant", "bee", "cat"]))
    for number, source in enumerate(["names.txt", "names.json", ("ant", "bee", "cat")]):
        options: Any = {"classes": source, "out": f"{number}.csv"}
        trimtab.predict_images("images", tiny_net(), "source", **options)
        rows = table(here / f"{number}.csv")
        assert [row["name"] for row in rows] == [
            ("ant", "bee", "cat")[int(row["class"])] for row in rows
        ]
    (here / "names.txt").write_text("ant\nbee\n")
    with pytest.raises(ValueError, match="the network has 3 classes, but 2 have names"):
        trimtab.predict_images(
            "images", trimtab.Backbone(tiny_net(), 3), "source", classes="names.txt", out="x.csv"
        )
    assert not (here / "x.csv").exists()


def test_the_command_predicts_reports_bad_images_and_goes_on(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write(here / "images", 5)
    (here / "images" / "bad.png").write_bytes(b"\x89PNG and no more")
    paths = "\n".join([*map(str, files), "nowhere.png", ""])
    monkeypatch.setattr("sys.stdin", io.StringIO(paths))
    words = ["--method", "tent", "--batch-size", "1", "--window", "4", "--out", "p.csv"]
    assert main(["predict", "-", "images/*.png", *words]) == 1
    told = capsys.readouterr().err
    assert "No --model: fashion_resnet20_bn" in told
    assert "passed over: images/bad.png: cannot decode" in told
    assert "passed over: nowhere.png" in told
    assert "10 images predicted, 2 could not be read." in told
    assert len(table(here / "p.csv")) == 12
    assert main(["predict", "images", *words]) == 1
    assert (
        "0 images predicted, 5 were there already, 1 could not be read." in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nowhere"], "there is no file or folder nowhere"),
        (["empty"], "expected images in empty, found none"),
        (["images", "--option", "seed=1"], "--option seed: say --seed instead"),
        (["images", "--method", "eata"], "eata needs source_data="),
        (["images", "--weights", "nowhere.pth"], "nowhere.pth"),
        (["images", "--batch-size", "0"], "batch_size must be at least 1"),
        (["images", "--size", "0"], "size must be at least 1 pixel"),
        (["images", "--resize", "-4"], "resize must be at least 1 pixel"),
        (["images", "--classes", "images/000.png"], "utf-8"),
    ],
)
def test_bad_arguments_are_told_in_a_line_and_write_nothing(
    here: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str
) -> None:
    write(here / "images", 1)
    (here / "empty").mkdir()
    assert main(["predict", *words]) == 2
    told = capsys.readouterr().err.splitlines()
    assert expected in told[-1]
    assert not list(here.glob("predictions*"))
