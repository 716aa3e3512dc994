"""Memory of an update, and what single samples cost in error."""

import json
from pathlib import Path

import pytest

from reproduce import made_up
from trimtab.bench.spec import RunSpec
from trimtab.cli.main import main
from trimtab.reproduce.experiments.memory import EXPERIMENT, SLIM, measured_networks
from trimtab.reproduce.setup import Setup, setup_for, small
from trimtab.reproduce.single_samples import streamed_networks
from trimtab.reproduce.study import Record, Study, StudyStore


def peaks(study: Study) -> Record:
    batch = study.settings["batch_size"] > 1
    return {"idle": 50.0, "peak": 2048.0 if batch else 256.0, "updates": 1}


def test_small_images_are_left_to_a_transformer_for_large_ones() -> None:
    assert measured_networks(Setup()) == (SLIM,)
    large = setup_for("fashion_mnist", ["vit_b_16", "fashion_vit"])
    assert measured_networks(large) == ("vit_b_16",)
    assert measured_networks(setup_for("imagenet_r")) == (
        "swin_b@imagenet_r",
        "vit_b_16@imagenet_r",
    )


def test_only_networks_for_the_data_follow_a_stream() -> None:
    assert streamed_networks(setup_for("fashion_mnist", ["vit_b_16", "fashion_vit"])) == (
        "fashion_vit",
    )
    assert streamed_networks(setup_for("imagenet_c")) == ("swin_b", "vit_b_16")
    assert streamed_networks(small(Setup())) == ("fashion_vit",)


def test_single_samples_wait_in_a_window_as_large_as_a_batch() -> None:
    setup = small(Setup(batch_size=32))
    specs = EXPERIMENT.runs(setup)
    assert {(spec.batch_size, spec.window) for spec in specs} == {(32, None), (1, 32)}
    assert {spec.images_per_domain for spec in specs} == {32}


def test_claims_follow_memory_errors_and_passes() -> None:
    def error(spec: RunSpec) -> float:
        return 0.3 if spec.window is None or spec.method == "tent" else 0.31

    def cost(spec: RunSpec) -> tuple[float, float, float]:
        return (1.0 if spec.window is None else 2.0, 1.0, 0.01)

    found = made_up.findings(EXPERIMENT, small(Setup()), error, cost, peaks)
    verdicts = {claim.text: claim.holds for claim in EXPERIMENT.analyse(found).claims}
    of: dict[str, list[bool | None]] = {text.partition(" (")[0]: [] for text in verdicts}
    for text, holds in verdicts.items():
        of[text.partition(" (")[0]].append(holds)
    assert of == {
        "Single samples take at least five times less memory than a batch": [True, True],
        "Single samples have the error of batches, within half a point": [True, False],
        "Single samples need no more forwards than batches": [False, False],
    }


def test_the_papers_memory_stands_beside_its_own_networks() -> None:
    setup = setup_for("imagenet_r", seeds=(1,))
    found = made_up.findings(EXPERIMENT, setup, lambda spec: 0.5, record=peaks)
    memory, errors = EXPERIMENT.analyse(found).tables
    [roid] = [numbers for name, numbers in memory.rows if name == "ROID, vit_b_16@imagenet_r"]
    assert [number.value for number in roid] == [2.0, 0.25, 8.0]
    assert [number.paper for number in roid] == [10.9, 0.69, 15.8]
    [tent] = [numbers for name, numbers in errors.rows if name == "TENT, swin_b@imagenet_r"]
    assert [number.paper for number in tent] == [54.2, 54.3]


@pytest.mark.slow
def test_studies_that_were_finished_before_a_kill_are_not_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["reproduce", "memory", "--quick", "--images", "2", "--batch-size", "2"]
    words += ["--model", "fashion_resnet20_bn", "--store", str(tmp_path), "--workers", "1"]
    setup = small(setup_for("fashion_mnist", ["fashion_resnet20_bn"], batch_size=2))
    missing, *finished = EXPERIMENT.studies(setup)
    store = StudyStore(tmp_path)
    for study in finished:
        store.put(study, {"idle": 1.0, "peak": 512.0, "updates": 1})
    assert main(words) == 0
    assert [store.get(study) for study in finished] == [
        {"idle": 1.0, "peak": 512.0, "updates": 1}
    ] * 3
    measured = store.get(missing)
    assert measured is not None
    assert measured["updates"] == 1
    assert 0 < measured["idle"] <= measured["peak"]
    assert json.loads((tmp_path / "studies" / f"{missing.id}.json").read_text())["kind"] == "memory"
