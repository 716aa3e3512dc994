"""Writers of health: what is known is written, by name and by samples."""

import csv
from dataclasses import replace
from pathlib import Path

import prometheus_client
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from trimtab import Health
from trimtab.monitor import CsvFile, PrometheusGauges, TensorBoard


def health(samples: int) -> Health:
    return Health(
        samples=samples,
        predicting="source",
        looked_at=64,
        updates=3,
        skipped_updates=0,
        resets=0,
        scaled=1,
        rollbacks=0,
        alarms=1,
        returns=0,
        beliefs={"view_temperature": {"temperature": 1.5}},
        accuracy=0.75,
    )


def test_a_csv_file_has_a_line_for_each_look(tmp_path: Path) -> None:
    for samples in (64, 128):
        CsvFile(tmp_path / "health.csv")(health(samples))
    with (tmp_path / "health.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert [line["samples"] for line in lines] == ["64", "128"]
    assert (lines[0]["accuracy"], lines[0]["harm"]) == ("0.75", "")
    assert lines[1]["predicting"] == "source"


def test_a_csv_file_makes_its_folder(tmp_path: Path) -> None:
    CsvFile(tmp_path / "logs" / "camera" / "health.csv")(health(64))
    assert (tmp_path / "logs" / "camera" / "health.csv").exists()


def test_prometheus_shows_streams_side_by_side() -> None:
    registry = prometheus_client.CollectorRegistry()
    for stream in ("left", "right"):
        PrometheusGauges(stream, registry)(health(64))
    for stream in ("left", "right"):
        labels = {"stream": stream}
        assert registry.get_sample_value("trimtab_accuracy", labels) == 0.75
        assert registry.get_sample_value("trimtab_source_predicts", labels) == 1
        name = "trimtab_view_temperature_temperature"
        assert registry.get_sample_value(name, labels) == 1.5


def test_prometheus_shows_no_more_what_is_no_longer_known() -> None:
    registry = prometheus_client.CollectorRegistry()
    for stream in ("left", "right"):
        writer = PrometheusGauges(stream, registry)
        writer(health(64))
    writer(replace(health(128), accuracy=None))
    assert registry.get_sample_value("trimtab_accuracy", {"stream": "left"}) == 0.75
    assert registry.get_sample_value("trimtab_accuracy", {"stream": "right"}) is None
    writer(health(192))
    assert registry.get_sample_value("trimtab_accuracy", {"stream": "right"}) == 0.75


@pytest.mark.filterwarnings("default")
def test_tensorboard_draws_by_samples(tmp_path: Path) -> None:
    writer = TensorBoard(tmp_path)
    for samples in (64, 128):
        writer(health(samples))
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [event.step for event in events.Scalars("trimtab/accuracy")] == [64, 128]
    assert events.Scalars("trimtab/view_temperature/temperature")[0].value == 1.5


@pytest.mark.parametrize(("writer", "extra"), [(TensorBoard, "tensorboard")])
def test_what_is_missing_is_named(
    writer: type, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torch.utils.tensorboard", None)
    with pytest.raises(ImportError, match=rf"trimtab\[{extra}\]"):
        writer(tmp_path)
