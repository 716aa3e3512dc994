"""Contrast with class prototypes."""

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.components.prototype_contrast import PrototypeContrast, contrast
from trimtab.core.adapter import Adapter


def begun(model: nn.Module, inputs: Tensor, component: PrototypeContrast) -> Adapter:
    adapter = trimtab.adapt(model, trimtab.build("tent").plus(component))
    adapter.begin(tuple(inputs.shape[1:]))
    return adapter


def test_the_contrast_equals_a_loop_over_all_pairs() -> None:
    z = nn.functional.normalize(torch.randn(5, 3, 8), dim=2)
    expected = torch.zeros(5)
    for sample in range(5):
        for view in range(3):
            anchor = z[sample, view]
            others = [(s, v) for s in range(5) for v in range(3) if (s, v) != (sample, view)]
            total = sum(torch.exp(anchor @ z[s, v] / 0.1) for s, v in others)
            for other in {0, 1, 2} - {view}:
                probability = torch.exp(anchor @ z[sample, other] / 0.1) / total
                expected[sample] -= probability.log() / 6
    torch.testing.assert_close(contrast(z, 0.1), expected, rtol=1e-4, atol=1e-5)


def test_a_single_sample_has_no_negatives_and_a_finite_loss() -> None:
    z = nn.functional.normalize(torch.randn(1, 3, 8), dim=2)
    assert contrast(z, 0.1).isfinite().all()


def test_prototypes_of_source_data_are_class_means_of_features(
    model: nets.Net, images: Tensor, recorded: dict[str, Tensor]
) -> None:
    inputs, labels = recorded["source_x"].float() / 255, recorded["source_y"]
    data = list(zip(inputs.split(16), labels.split(16), strict=True))
    adapter = begun(model, images[:4], PrototypeContrast(data))

    encoder = nets.trained(_norm_of(model), recorded).encoder  # in training mode: of the batch
    with torch.no_grad():
        features = torch.cat([encoder(part) for part in inputs.split(16)])
    expected = torch.stack([features[labels == c].mean(0) for c in labels.unique()])
    found = adapter.memory["prototype_contrast"]["prototypes"]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def _norm_of(model: nets.Net) -> str:
    layer = next(m for m in model.modules() if "Norm" in type(m).__name__)
    return {"BatchNorm2d": "bn", "GroupNorm": "gn", "LayerNorm": "ln"}[type(layer).__name__]


def test_classes_that_do_not_occur_have_no_prototype(model: nets.Net, images: Tensor) -> None:
    data = [(images[:8], torch.tensor([1, 1, 1, 4, 4, 4, 4, 1]))]
    adapter = begun(model, images[:4], PrototypeContrast(data))
    assert adapter.memory["prototype_contrast"]["prototypes"].shape == (2, 16)
    assert adapter(images[:16]).isfinite().all()


def test_without_source_data_the_classifiers_rows_are_prototypes(
    model: nets.Net, images: Tensor
) -> None:
    adapter = begun(model, images[:4], PrototypeContrast())
    found = adapter.memory["prototype_contrast"]["prototypes"]
    assert torch.equal(found, model.classifier.weight)


def test_the_projector_is_trained_along(model: nets.Net, images: Tensor) -> None:
    adapter = begun(model, images[:4], PrototypeContrast())
    before = adapter.memory["prototype_contrast"]
    adapter(images[:16])
    after = adapter.memory["prototype_contrast"]
    moved = {name for name in after if not torch.equal(after[name], before[name])}
    assert moved == {f"projector.{n}.{p}" for n in (0, 2) for p in ("weight", "bias")}


def test_a_network_without_features_is_refused() -> None:
    model = nn.Sequential(nn.Conv2d(3, 7, 1), nn.GroupNorm(1, 7), nn.AdaptiveAvgPool2d(1))
    model.append(nn.Flatten())
    with pytest.raises(ValueError, match="needs features"):
        begun(model, torch.rand(2, 3, 8, 8), PrototypeContrast())


def test_bad_source_data_is_refused(images: Tensor) -> None:
    for data, message in (
        ([], "must give batches"),
        ([images[:4]], "pairs of inputs and labels"),
        ([(images[:4], torch.zeros(4, 7))], "one whole number a sample"),
        ([(images[:4], torch.tensor([0, 1, 2, 7]))], r"must lie in \[0, 7\)"),
    ):
        with pytest.raises(ValueError, match=message):
            begun(nets.net("gn"), images[:4], PrototypeContrast(data))  # type: ignore[arg-type]
