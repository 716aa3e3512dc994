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
from trimtab.predict.compare import Comparison, Estimate, Said, compare, variety


def rightness(model: nets.Net, method: str, images: Tensor, variety: float) -> list[float]:
    """Agreement of images and mirror images less chance, sample by sample."""
    adapter, said, seen = trimtab.adapt(model, method), [], []
    for batch in images.split(16):
        seen += adapter.predict(batch.flip(-1)).argmax(1).tolist()
        said += adapter(batch).argmax(1).tolist()
    count = len(said)
    chance = sum(said.count(c) / count * seen.count(c) / count for c in range(7))
    return [(a == b) - variety * chance for a, b in zip(said, seen, strict=True)]


def by_hand(model: nets.Net, method: str, images: Tensor, variety: float) -> tuple[float, float]:
    """Mean gain over batches of sixteen and its standard error."""
    own, source = (rightness(model, name, images, variety) for name in (method, "source"))
    gains = [a - b for a, b in zip(own, source, strict=True)]
    means = [sum(gains[start : start + 16]) / 16 for start in range(0, len(gains), 16)]
    mean = sum(means) / len(means)
    variance = sum((value - mean) ** 2 for value in means) / (len(means) - 1)
    return mean, math.sqrt(variance / len(means))


def of_classes(classes: list[int], sure: float) -> Said:
    """What a model said of 64 images and, the same, of their mirror images."""
    noise = torch.randn(64, 10, generator=torch.Generator().manual_seed(0))
    logits = noise + sure * torch.eye(10)[(classes * 64)[:64]]
    said = Said()
    said.take(logits, logits)
    return said


def test_one_class_for_everything_is_no_stability_where_classes_stand_out() -> None:
    collapsed, varied = of_classes([2], 100.0), of_classes(list(range(10)), 10.0)
    many = variety([collapsed, varied])
    assert many == 1
    assert float(torch.cat(collapsed.rightness(many)).mean()) == pytest.approx(0)
    assert float(torch.cat(varied.rightness(many)).mean()) == pytest.approx(0.9, abs=0.01)


def test_one_class_is_stability_where_no_model_sees_others() -> None:
    run, scattered = of_classes([2], 100.0), of_classes([0], 0.0)
    many = variety([run, scattered])
    assert many == 0
    assert float(torch.cat(run.rightness(many)).mean()) == 1


def test_chance_counts_where_there_are_more_classes_than_prominence_can_tell() -> None:
    said = Said()
    said.take(torch.rand(64, 100), torch.rand(64, 100))
    assert variety([said]) == 1


def test_small_batches_are_pooled() -> None:
    said, whole = Said(), of_classes(list(range(10)), 10.0)
    noise = torch.randn(64, 10, generator=torch.Generator().manual_seed(0))
    logits = noise + 10.0 * torch.eye(10)[(list(range(10)) * 64)[:64]]
    for batch in logits.split(8):
        said.take(batch, batch)
    assert said.prominence == whole.prominence > 1.2


def test_gains_are_the_mean_of_what_each_sample_gains(model: nets.Net, images: Tensor) -> None:
    found = compare(trimtab.Backbone(model), images.split(16), ["tent", "roid"])
    for estimate in found.estimates:
        gain, error = by_hand(model, estimate.method, images, found.variety)
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
