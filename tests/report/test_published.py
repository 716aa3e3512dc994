"""The paper's numbers: as published, and beside nothing but the same experiment."""

import io
import json
from typing import Any

import pytest
from rich.console import Console

from report import stores
from trimtab import models, streams
from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.methods import METHODS
from trimtab.report.formats.to_csv import to_csv
from trimtab.report.formats.to_json import to_json
from trimtab.report.formats.to_latex import to_latex
from trimtab.report.formats.to_markdown import to_markdown
from trimtab.report.formats.to_terminal import to_terminal
from trimtab.report.metrics import DOMAIN_ERROR, ERROR, TVD
from trimtab.report.page import page
from trimtab.report.published import (
    ENSEMBLING_ALONE,
    published_architecture,
    published_components,
    published_error,
    published_momentum,
)
from trimtab.report.published import tables as published
from trimtab.report.published_efficiency import published_cost, published_memory
from trimtab.report.table import tables
from trimtab.streams.data import DATASETS


def run(method: str = "roid", error: float = 0.544, **fields: Any) -> RunResult:
    """A run of the paper's main experiment, unless fields say otherwise."""
    samples = fields.pop("samples", 75_000)
    model = fields.pop("model", "resnet50")
    settings: dict[str, Any] = {
        "data": "imagenet_c",
        "scenario": "continual",
        "images_per_domain": 5000,
        "weights": models.describe(model).fingerprint,
        "seed": 1,
    }
    spec = RunSpec(method=method, model=model, **settings | fields)
    return stores.done(spec, error, samples=samples, source_error=0.82)


def test_the_papers_main_number_stands_beside_the_same_run() -> None:
    assert published_error(run()) == 54.5
    assert published_error(run("source")) == 82.0
    assert published_error(run("eata", options={"source_data": "source"})) == 58.0
    assert published_error(run(scenario="mixed")) == 69.5


@pytest.mark.parametrize(
    "other",
    [
        {"options": {"ensembling": 0.9}},
        {"severity": 3},
        {"weights": "11ad3fa6"},
        {"weights": None},
        {"batch_size": 32},
        {"window": 64},
        {"samples": 3000},
        {"samples": 750_000},
        {"scenario": "recurring(rounds=2)"},
        {"data": "imagenet"},
        {"model": "resnet50@imagenet_r"},
        {"method": "deyo"},
    ],
    ids=str,
)
def test_whatever_is_not_the_same_stands_beside_nothing(other: dict[str, Any]) -> None:
    assert published_error(run(**other)) is None


def test_other_ways_to_take_five_thousand_images_are_fine() -> None:
    data = "imagenet_c(list_file='list.txt')"
    assert published_error(run(data=data, images_per_domain=None)) == 54.5


def test_a_run_that_failed_stands_beside_nothing() -> None:
    assert published_error(stores.failed(run().spec)) is None


def test_networks_with_some_classes_are_found_by_their_mask() -> None:
    fields: dict[str, Any] = {"data": "imagenet_r", "samples": 30_000, "images_per_domain": None}
    assert published_error(run(model="vit_b_16@imagenet_r", **fields)) == 44.2
    assert published_error(run(model="vit_b_16", **fields)) is None
    assert published_error(run("bn1", model="vit_b_16@imagenet_r", **fields)) is None


def test_unequal_domains_count_once_each() -> None:
    result = run(
        model="swin_b@imagenet_d109",
        data="imagenet_d109",
        scenario="mixed_correlated(delta=0.1)",
        samples=136_499,
    )
    assert published_error(result, DOMAIN_ERROR) == 28.3
    assert published_error(result, ERROR) is None


def test_only_errors_are_published() -> None:
    assert published_error(run(), TVD) is None


def test_a_dataset_with_hyperparameters_of_its_own_wants_them() -> None:
    fields: dict[str, Any] = {"data": "cifar100_c", "model": "resnext29_4x32d", "samples": 150_000}
    fields |= {"batch_size": 200}
    assert published_error(run("cotta", **fields)) is None
    assert published_error(run("cotta", options={"min_confidence": 0.72}, **fields)) == 32.8
    assert published_error(run("roid", **fields)) == 29.3


def test_architectures_have_a_table_of_their_own() -> None:
    fields: dict[str, Any] = {"data": "imagenet_sketch", "samples": 50_889}
    assert published_error(run(**fields)) == 64.3
    assert published_architecture(run(**fields)) == 64.0
    assert published_error(run("bn1", model="maxvit_t", **fields)) == 67.0
    assert published_architecture(run("bn1", model="swin_t", **fields)) is None


def test_the_momentum_is_looked_up_with_the_papers_other_options() -> None:
    assert published_momentum(run(options={"ensembling": 0.95, **ENSEMBLING_ALONE})) == 60.0
    assert published_momentum(run(options={"ensembling": 0.95})) is None
    assert published_momentum(run(options={"ensembling": 0.7, **ENSEMBLING_ALONE})) is None
    few = run(options={"ensembling": 0.95, **ENSEMBLING_ALONE}, samples=3000)
    assert published_momentum(few) is None


def test_components_cost_and_memory_are_there() -> None:
    assert published_components()["+ prior correction"]["mixed_correlated"] == 23.5
    roid = published_cost("roid")
    assert roid is not None
    assert roid.forwards == pytest.approx(1.62, abs=0.001)
    assert roid.backwards == pytest.approx(1.24, abs=0.001)
    assert published_cost("memo") is None
    memory = published_memory("vit_b_16@imagenet_r", "roid")
    assert memory is not None
    assert memory["batch"] / memory["single"] == pytest.approx(15.8, abs=0.01)
    assert published_memory("fashion_vit", "roid") is None


def test_all_names_are_trimtabs_own_and_all_rows_are_full() -> None:
    for entry in published()["error"]:
        assert set(entry["methods"]) <= set(METHODS)
        streams.scenario(entry["scenario"])
        for data, errors in entry["errors"].items():
            assert data in DATASETS
            assert entry["scenario"].partition("(")[0] in published()["conditions"][data]["samples"]
            for model, row in errors.items():
                assert model in models.MODELS
                assert len(row) == len(entry["methods"])
    for entry in published()["architectures"]:
        for rows in entry["errors"].values():
            assert set(rows) == {"source", "bn1", "roid"}
            assert {len(row) for row in rows.values()} == {len(entry["models"])}


def test_the_stated_weights_are_those_of_the_table_of_models() -> None:
    stated = published()["weights"]
    assert stated == {name: models.describe(name).fingerprint for name in stated}
    compared = [name for entry in published()["architectures"] for name in entry["models"]]
    assert sorted(compared) == sorted(stated)
    assert len(stated) == 31


def test_every_entry_names_its_place_in_the_paper() -> None:
    found = published()
    single = [found[name] for name in ("components", "momentum", "cost", "memory")]
    for entry in [*found["error"], *found["architectures"], *single]:
        assert entry["table"]


def paper_and_other() -> list[RunResult]:
    seeds = [run(error=error, seed=seed) for seed, error in ((1, 0.544), (2, 0.546))]
    return [*seeds, run("memo", 0.7), run("source", 0.82)]


def test_a_report_shows_the_papers_number_behind_ours() -> None:
    found = tables(paper_and_other())
    lines = to_markdown(found).splitlines()
    assert r"| ROID | **54.5** ± 0.1 (paper 54.5) \* |" in lines
    [memo] = [line for line in lines if line.startswith("| MEMO")]
    assert "paper" not in memo
    text = io.StringIO()
    Console(file=text, width=120).print(*to_terminal(found[0], 120))
    assert "82.0 (paper 82.0)" in text.getvalue()
    cells = {cell["method"]: cell for cell in json.loads(to_json(found))["cells"]}
    assert cells["roid"]["paper_error"] == 54.5
    assert cells["memo"]["paper_error"] is None
    assert ",54.5000," in to_csv(found)
    assert "paper 5" not in to_latex(found)


def test_the_page_has_it_for_errors_and_for_nothing_else() -> None:
    text = page(paper_and_other(), "store")
    assert text.count('<small class="paper">paper 54.5</small>') == 2  # by samples and by domains
    assert 'class="paper"' not in page(stores.three_methods(), "store")
