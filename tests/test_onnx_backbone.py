"""ONNX models are adapted by methods that train nothing."""

import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

import trimtab
from reference import nets
from trimtab.models.loading import build

SHIPPED = ("fashion_resnet20_bn", "fashion_resnet20_gn", "fashion_vit")


pytestmark = pytest.mark.filterwarnings("ignore")  # torch warns of its tracer and exporter


def exported(model: nn.Module, sample: Tensor, path: Path, *, dynamic: bool = True) -> Path:
    axes = {"x": {0: "batch"}, "y": {0: "batch"}} if dynamic else None
    torch.onnx.export(
        model.eval(), (sample,), path, dynamo=False,
        input_names=["x"], output_names=["y"], dynamic_axes=axes,
    )  # fmt: skip
    return path


def logits(model: nn.Module | trimtab.Backbone, method: str, images: Tensor) -> Tensor:
    adapter = trimtab.adapt(model, method)
    return torch.cat([adapter(batch) for batch in images.split(16)])


@pytest.mark.parametrize("method", ["source", "neo + temporal_prior", "t3a", "lame"])
def test_an_onnx_model_is_adapted_as_the_torch_model_is(
    method: str, model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    backbone = trimtab.OnnxBackbone(exported(model, images[:2], tmp_path / "net.onnx"), threads=1)
    found, expected = (logits(net, method, images[:48]) for net in (backbone, model))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert backbone.classifier is not None
    assert backbone.num_classes == 7


def test_a_model_of_one_batch_size_takes_any(
    model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    path = exported(model, images[:8], tmp_path / "net.onnx", dynamic=False)
    found = logits(trimtab.OnnxBackbone(path, threads=1), "source", images[:44])
    torch.testing.assert_close(found, logits(model, "source", images[:44]), atol=1e-4, rtol=1e-4)


def test_a_model_without_a_plain_classifier_is_seen_by_its_logits(
    model: nets.Net, images: Tensor, tmp_path: Path
) -> None:
    scaled = nn.Sequential(model, nn.Softplus())
    backbone = trimtab.OnnxBackbone(exported(scaled, images[:2], tmp_path / "net.onnx"), threads=1)
    expected = scaled(images[:16]).detach()
    adapter = trimtab.adapt(backbone, "source + temporal_prior")
    torch.testing.assert_close(adapter(images[:16]).argmax(1), expected.argmax(1))
    with pytest.raises(ValueError, match="feature_centering needs"):
        trimtab.adapt(backbone, "neo")(images[:4])


def test_a_method_that_trains_refuses(model: nets.Net, images: Tensor, tmp_path: Path) -> None:
    backbone = trimtab.OnnxBackbone(exported(model, images[:2], tmp_path / "net.onnx"), threads=1)
    with pytest.raises(ValueError, match=r"net.onnx is an ONNX model, which makes forward passes"):
        trimtab.adapt(backbone, "roid")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_networks_are_exported_and_adapted(name: str, tmp_path: Path) -> None:
    model = build(name)
    images = torch.rand(24, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    backbone = trimtab.OnnxBackbone(exported(model, images[:2], tmp_path / "net.onnx"), threads=1)
    found, expected = (logits(net, "neo + temporal_prior", images) for net in (backbone, model))
    torch.testing.assert_close(found, expected, atol=1e-3, rtol=1e-3)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install 'trimtab\[onnx\]'"):
        trimtab.OnnxBackbone(tmp_path / "net.onnx")
