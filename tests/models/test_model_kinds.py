"""Kinds of models: those that work learn and stay untouched, others are refused in a sentence."""

import warnings
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import trimtab
from models.model_kinds import REFUSED, WORKS, Kind

PAGE = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.fixture(autouse=True)
def _torchs_own_warnings() -> None:
    """Deprecations of torch's tracing and quantisation are not ours to judge."""
    warnings.simplefilter("ignore", DeprecationWarning)
    warnings.simplefilter("ignore", FutureWarning)
    for text in (".*quantize.* are deprecated", ".*an autograd kernel was not registered"):
        warnings.filterwarnings("ignore", message=text)


def made(kind: Kind) -> object:
    """The model; a test of a package that is not here is left out."""
    try:
        return kind.make()
    except ImportError as error:
        pytest.skip(str(error))


def _tensors(model: nn.Module) -> list[tuple[str, Tensor]]:
    return [(name, t) for name, t in model.state_dict().items() if isinstance(t, Tensor)]


@pytest.mark.parametrize("kind", WORKS, ids=lambda kind: kind.title)
def test_it_works(kind: Kind) -> None:
    model = made(kind)
    assert isinstance(model, nn.Module)
    before = {name: tensor.clone() for name, tensor in _tensors(model)}
    adapter = trimtab.adapt(model, kind.method, **kind.options)
    for _ in range(2):
        logits = adapter(kind.inputs())
        assert logits.dim() == 2
        assert logits.isfinite().all()
    assert (adapter.counters.updates == 2) == kind.updates
    moved = [
        name
        for name, value in adapter.params.items()
        if not torch.equal(value, adapter.source[name])
    ]
    assert bool(moved) == kind.updates
    after = dict(_tensors(model))
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


@pytest.mark.parametrize("kind", REFUSED, ids=lambda kind: kind.title)
def test_it_is_refused_in_a_sentence(kind: Kind) -> None:
    model = made(kind)
    with pytest.raises(ValueError, match=kind.refused):
        trimtab.adapt(model, kind.method, **kind.options)(kind.inputs())  # type: ignore[arg-type]


def test_the_page_has_a_row_for_each_kind() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    for kind in (*WORKS, *REFUSED):
        row = next((row for row in rows if row.startswith(f"| {kind.title} |")), None)
        assert row is not None, kind.title
        assert ("| works" in row) == (kind.refused is None), row
        sentence = (kind.refused or "").replace("\\", "")
        assert sentence in row, row
    assert len(WORKS) + len(REFUSED) >= 30
