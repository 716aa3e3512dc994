"""The demo of segmentation: its suite, its network, and what it shows."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

import trimtab
from trimtab import models
from trimtab.bench import run_suite, suite
from trimtab.bench.plan import planned
from trimtab.cli.demo import SUITES, show

ASKED_FOR = {"source", "bn1", "tent", "roid", "spa"}


def test_every_run_of_the_suite_can_be_planned() -> None:
    runs = suite.load(SUITES["segmentation"]).runs
    assert len(planned(runs, "segmentation")) == len(runs) == 16
    with pytest.raises(ValueError, match="guard must be True, False"):
        planned([replace(runs[0], options={"guard": "yes"})], "segmentation")


def test_the_suite_has_what_was_asked_for_guarded_and_not() -> None:
    runs = suite.load(SUITES["segmentation"]).runs
    for scenario in ("continual", "mixed"):
        here = [spec for spec in runs if spec.scenario == scenario]
        assert {spec.method for spec in here} == ASKED_FOR
        guarded = {spec.method for spec in here if spec.options.get("guard")}
        assert guarded == {"tent", "roid", "spa"}


@pytest.mark.slow
def test_the_demo_scores_pixels_and_shows_both_numbers(tmp_path: Path) -> None:
    few = {"images_per_domain": 1, "scenario": "mixed"}
    results = run_suite("segmentation", tmp_path, changes=few, only=['"method":"source"'])
    (source,) = results
    assert source.status == "done", source.error
    assert source.scores is not None
    assert source.scores.miou is not None
    assert 0 < source.scores.miou < 1
    assert len(source.scores.mious) == 15
    screen = Console(file=io.StringIO(), width=100)
    show(tmp_path, screen)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "Share of wrong predictions" in shown
    assert "mean intersection over" in " ".join(shown.split())  # lines may break
    assert "mIoU" in (tmp_path / "report.html").read_text()


def test_load_demo_gives_scenes_to_a_segmentation_network() -> None:
    backbone, stream = trimtab.load_demo("scenes_unet_bn", images_per_domain=1, batch_size=2)
    batch = next(iter(stream))
    logits = trimtab.adapt(backbone, "source")(batch.inputs)
    assert logits.shape == (len(batch), 11, 56, 56)
    assert batch.labels.shape == (len(batch), 56, 56)
    assert models.describe("scenes_unet_bn").task == "segmentation"
