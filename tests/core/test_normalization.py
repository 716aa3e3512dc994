"""Images as networks take them, and augmentations that see pixels in [0, 1] all the same."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from same import assert_same
from trimtab.augment.normalization import NAMED, Normalization, normalization_of
from trimtab.core.advice import TrimtabWarning
from trimtab.models.normalization import Normalized

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.25, 0.3)


def normalised(images: Tensor) -> Tensor:
    return Normalization(MEAN, STD).from_pixels(images)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["roid", "trimtab", "cotta", "rotta", "adacontrast", "rmt"])
def test_a_stream_of_normalised_images_is_that_of_their_pixels(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    """The model with its normalisation inside, and outside of it, learn the same."""
    model = nets.trained("gn", recorded)
    within: dict[str, Any] = {"memory_size": 16} if method == "rotta" else {}
    without = within
    if method == "rmt":
        labels = torch.arange(16) % 7
        within = {"source_data": [(images[:16], labels)]}
        without = {"source_data": [(normalised(images[:16]), labels)]}
    inside = trimtab.adapt(Normalized(model, MEAN, STD), method, **within)
    outside = trimtab.adapt(model, method, normalization=(MEAN, STD), **without)
    for batch in images[:48].split(16):
        expected = inside(batch)
        torch.testing.assert_close(outside(normalised(batch)), expected, atol=2e-3, rtol=2e-3)


def test_pixels_come_back_as_they_went(images: Tensor) -> None:
    known = Normalization(MEAN, STD)
    torch.testing.assert_close(known.to_pixels(known.from_pixels(images)), images)
    assert known.to_pixels(images.half()).dtype == torch.float32


@pytest.mark.parametrize("name", NAMED)
def test_names_stand_for_numbers(name: str) -> None:
    found = normalization_of(name)
    assert found is not None
    assert (found.mean, found.std) == NAMED[name]


def test_objects_that_state_their_normalization_are_taken() -> None:
    processor = SimpleNamespace(image_mean=[0.5, 0.5, 0.5], image_std=[0.2, 0.2, 0.2])
    transform = SimpleNamespace(mean=torch.tensor([0.5]), std=torch.tensor([0.25]))
    assert normalization_of(processor) == Normalization((0.5,) * 3, (0.2,) * 3)
    assert normalization_of(transform) == Normalization((0.5,), (0.25,))
    assert normalization_of((0, 1 / 255)) == Normalization((0.0,), (0.003921569,))


def test_a_models_own_configuration_is_read() -> None:
    model = nn.Linear(2, 2)
    model.pretrained_cfg = {"mean": MEAN, "std": STD}  # type: ignore[assignment]
    assert trimtab.Backbone(model, normalization="model").normalization == Normalization(MEAN, STD)
    with pytest.raises(ValueError, match="Linear does not say how its inputs are normalised"):
        trimtab.Backbone(nn.Linear(2, 2), normalization="model")


@pytest.mark.parametrize("given", ["imagnet", (1, 2, 3), (0.5, 0), (0.5, "a"), 7])
def test_what_is_no_normalization_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="normalization must be"):
        trimtab.Backbone(nn.Linear(2, 2), normalization=given)


@pytest.mark.parametrize("method", ["roid", "trimtab", "cotta"])
def test_normalised_images_are_noticed(
    method: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), method)
    with pytest.warns(TrimtabWarning, match=r"values lie in \[-.*pass normalization=\(mean, std\)"):
        adapter(normalised(images[:16]))
    wrong = trimtab.adapt(nets.trained("gn", recorded), method, normalization=(0.0, 0.5))
    with pytest.warns(TrimtabWarning, match=r"pixels lie in .* where they should lie in \[0, 1\]"):
        wrong(normalised(images[:16]))


def test_values_of_8_bits_are_refused(recorded: dict[str, Tensor], images: Tensor) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "roid")
    with pytest.raises(ValueError, match="divide them by 255, or pass normalization="):
        adapter(images[:16] * 255)
    assert adapter.sample_shape is None


@pytest.mark.parametrize("how", ["reset", "begin"])
def test_bytes_are_refused_wherever_a_stream_begins(
    how: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "roid")
    if how == "begin":
        adapter.begin(tuple(images.shape[1:]))
    else:
        adapter(images[:16])
        adapter.reset()
    before = adapter.state_dict()
    with pytest.raises(ValueError, match="divide them by 255"):
        adapter(images[:16] * 255)
    assert_same(adapter.state_dict(), before)
    assert adapter(images[:16]).isfinite().all()


def test_methods_that_augment_nothing_take_any_range(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    for factor in (1, 255):
        adapter = trimtab.adapt(nets.trained("gn", recorded), "tent")
        assert adapter(normalised(images[:16]) * factor).isfinite().all()


def test_states_of_another_normalization_are_refused(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    state = trimtab.adapt(model, "roid").state_dict()
    with pytest.raises(ValueError, match="its normalization is None"):
        trimtab.adapt(model, "roid", normalization="half").load_state_dict(state)


def test_settings_of_a_backbone_belong_to_the_backbone(recorded: dict[str, Tensor]) -> None:
    backbone = trimtab.Backbone(nets.trained("gn", recorded))
    with pytest.raises(ValueError, match="belong to the Backbone"):
        trimtab.adapt(backbone, "roid", normalization="half")
