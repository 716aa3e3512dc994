"""Which method looks best is estimated without labels, and nothing is recommended on a whim."""

import json
import math
from pathlib import Path

import pytest
import torch
from torch import Tensor

import trimtab
from predict.pictures import write
from reference import nets
from trimtab.cli.main import main
from trimtab.core.look import COLUMNS, Look
from trimtab.predict.compare import Comparison, Estimate, compare


def by_hand(model: nets.Net, method: str, images: Tensor) -> tuple[float, float]:
    """Mean gain over batches and its standard error, from two adapters and the guard's rule."""
    source, adapted = trimtab.adapt(model, "source"), trimtab.adapt(model, method)
    earlier, means = torch.zeros(0, len(COLUMNS)), []
    for batch in images.split(16):
        view = batch.flip(-1)
        look = Look(
            adapted_view=adapted.predict(view),
            adapted=adapted(batch),
            source=source(batch),
            source_view=source(view),
        )
        rows = look.rows(earlier)
        earlier = torch.cat([rows, earlier])
        means.append(-rows[:, 0].mean().item())
    mean = sum(means) / len(means)
    variance = sum((value - mean) ** 2 for value in means) / (len(means) - 1)
    return mean, math.sqrt(variance / len(means))


def test_gains_are_the_mean_of_what_each_sample_gains(model: nets.Net, images: Tensor) -> None:
    found = compare(trimtab.Backbone(model), images.split(16), ["tent", "roid"])
    for estimate in found.estimates:
        gain, error = by_hand(model, estimate.method, images)
        assert estimate.gain == pytest.approx(gain, abs=1e-6)
        assert estimate.error == pytest.approx(error, abs=1e-6)
    assert found.images == len(images)


def test_the_source_itself_gains_nothing(model: nets.Net, images: Tensor) -> None:
    found = compare(trimtab.Backbone(model), images.split(16), ["source"]).estimates[0]
    assert (found.gain, found.agreement, found.passes) == (0.0, 1.0, 1.0)
    assert not found.is_clear


def of(*estimates: Estimate) -> Comparison:
    return Comparison(640, 0.9, estimates)


def test_only_what_is_clearly_better_is_chosen() -> None:
    doubtful, sure = Estimate("tent", 0.10, 0.06), Estimate("roid", 0.05, 0.01)
    assert of(doubtful, sure).choice == "roid"
    assert of(doubtful).choice == "source"
    assert of(Estimate("tent", -0.1, 0.01)).choice == "source"
    assert of(Estimate("tent", 0.2, math.inf)).choice == "source"
    assert of(Estimate("tent", 0.2, 0.01, refused="it cannot")).choice == "source"


def test_a_method_that_cannot_be_tried_says_why(images: Tensor) -> None:
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 5))
    found = compare(trimtab.Backbone(model), images.split(16), ["tent", "neo"])
    tent, neo = found.estimates
    assert "this method trains norm layers" in tent.refused
    assert not neo.refused


def test_no_images_are_refused(model: nets.Net) -> None:
    with pytest.raises(ValueError, match="there are no images"):
        compare(trimtab.Backbone(model), [])


@pytest.mark.slow
def test_the_command_line_shows_a_table_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    folder, out = tmp_path / "pictures", tmp_path / "found.json"
    write(folder, 40)
    (folder / "broken.png").write_bytes(b"no picture")
    words = [
        "compare",
        "--model",
        "fashion_resnet20_gn",
        "--images",
        str(folder),
        "--out",
        str(out),
    ]
    status = main([*words, "--method", "neo", "--method", "tent", "--batch-size", "8"])
    shown = capsys.readouterr().out
    assert status == 1  # one could not be read
    assert "broken.png" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if "broken" not in line)
    record = json.loads(out.read_text())
    assert record["images"] == 40
    assert {row["method"] for row in record["estimates"]} == {"neo", "tent"}
    assert record["choice"] in ("source", "neo", "tent")
    assert ("No adaptation" in shown) == (record["choice"] == "source")


@pytest.mark.slow
def test_too_few_images_are_said_to_be_too_few(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "pictures"
    write(folder, 10)
    words = ["compare", "--model", "fashion_resnet20_gn", "--images", str(folder)]
    assert main([*words, "--method", "neo", "--limit", "8"]) == 0
    shown = capsys.readouterr().out
    assert "8 images" in shown
    assert "Too few images to say" in shown
