"""The one-liner."""

import pytest
from torch import Tensor

import trimtab
from reference import nets
from trimtab.methods.tent import tent


def test_a_name_a_composition_and_a_method_all_serve(model: nets.Net, images: Tensor) -> None:
    for method in ("roid", "tent + source_ensembling(momentum=0.99)", tent()):
        assert trimtab.adapt(model, method)(images[:16]).shape == (16, 7)


def test_streams_may_share_a_backbone(model: nets.Net) -> None:
    backbone = trimtab.Backbone(model)
    assert trimtab.adapt(backbone, "roid").backbone is trimtab.adapt(backbone, "tent").backbone


def test_options_beside_a_method_are_refused(model: nets.Net) -> None:
    with pytest.raises(ValueError, match="has its options already, got also lr"):
        trimtab.adapt(model, tent(), lr=0.1)


@pytest.mark.parametrize("method", [None, 5, ["roid"]])
def test_what_names_no_method_is_refused(model: nets.Net, method: object) -> None:
    with pytest.raises(ValueError, match=r"expected a name, or .*, got "):
        trimtab.adapt(model, method)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["lr", "window", "micro_batch", "budget", "adapt_every"])
def test_words_in_place_of_numbers_are_refused_by_name(model: nets.Net, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be .*, got 'many'"):
        trimtab.adapt(model, "roid", **{name: "many"})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["window", "micro_batch", "adapt_every"])
def test_parts_of_a_sample_are_refused_at_once(model: nets.Net, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be .*a whole number, got 2.5"):
        trimtab.adapt(model, "roid", **{name: 2.5})  # type: ignore[arg-type]


def test_a_mapping_that_the_model_does_not_take_is_told_by_its_names(
    model: nets.Net, images: Tensor
) -> None:
    with pytest.raises(ValueError, match="got picture of float32; pass"):
        trimtab.adapt(model, "roid")({"picture": images[:4]})


def test_a_backbone_keeps_its_own_settings(model: nets.Net) -> None:
    with pytest.raises(ValueError, match="belong to the Backbone"):
        trimtab.adapt(trimtab.Backbone(model), "roid", num_classes=7)


def test_importing_trimtab_does_not_import_torch() -> None:
    import subprocess
    import sys

    code = "import sys, trimtab; assert 'torch' not in sys.modules; assert trimtab.__version__"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_public_name_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'adpat'"):
        _ = trimtab.adpat  # type: ignore[attr-defined]
