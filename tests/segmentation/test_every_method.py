"""Every method on a segmentation model: it keeps its promises, or refuses with a sentence."""

import inspect
from typing import Any

import pytest
import torch

import trimtab
from contract.recipes import FEW, full_batch
from segmentation import nets
from trimtab.components.prior_correction import PriorCorrection
from trimtab.testing.method_checks import METHOD_CHECKS
from trimtab.testing.subject import Subject

ASKED_FOR = {"source", "bn1", "tent", "eta", "sar", "cotta", "roid"}


def recipe_of(method: str) -> trimtab.Method:
    """A method with source images where it takes some, and few views."""
    known = inspect.signature(trimtab.METHODS[method]).parameters
    offered: dict[str, Any] = {"source_data": [nets.images(16)], **FEW}
    return trimtab.build(method, **{key: v for key, v in offered.items() if key in known})


def refusal(method: trimtab.Method) -> str | None:
    try:
        method.suited_to(trimtab.Segmentation())
    except ValueError as error:
        return str(error)
    return None


WORKING = [method for method in trimtab.METHODS if refusal(recipe_of(method)) is None]


@pytest.mark.parametrize("method", trimtab.METHODS)
def test_every_method_works_or_says_why_not(method: str) -> None:
    told = refusal(recipe_of(method))
    if told is None:
        adapter = trimtab.adapt(nets.net(), recipe_of(method), task="segmentation")
        assert adapter(nets.images(16)).shape == (16, nets.CLASSES, 12, 10)
    else:
        assert told.startswith(f"{method} does not adapt segmentation models: '")
        assert "was written for one prediction" not in told  # each has a reason of its own
        assert "use 'roid', 'tent'" in told
        with pytest.raises(ValueError, match="does not adapt segmentation models"):
            trimtab.adapt(nets.net(), recipe_of(method), task="segmentation")


def test_roid_goes_without_its_prior_unless_asked() -> None:
    plain = trimtab.build("roid").suited_to(trimtab.Segmentation())
    assert "prior_correction" not in [component.name for component in plain.components]
    asked = trimtab.build("roid", prior=PriorCorrection(pixels=True))
    adapter = trimtab.adapt(nets.net(), asked, task="segmentation")
    assert "prior_correction" in [component.name for component in adapter.method.components]
    without = trimtab.adapt(nets.net(), "roid", task="segmentation")
    batch = nets.images(16)
    assert not torch.equal(adapter(batch), without(batch))


def test_the_methods_that_make_sense_are_there() -> None:
    assert set(WORKING) >= ASKED_FOR


PAIRS = [
    (method, check)
    for turn, method in enumerate(WORKING)
    for place, check in enumerate(METHOD_CHECKS)
    if (turn + place) % 3 == 0  # each check on a third of the methods, in turns
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "check"), PAIRS)
def test_every_method_keeps_its_promises_on_pixels(method: str, check: str) -> None:
    recipe = recipe_of(method)
    norm = sorted(nets.NORMS)[sum(method.encode()) % 2]
    batch = full_batch(method)
    METHOD_CHECKS[check](Subject(recipe, nets.net(norm), nets.images(), batch, "segmentation"))
