"""Methods that work on the rows of a linear classifier say so where there is none."""

import pytest
import torch
from torch import Tensor, nn

import trimtab

METHODS = ("neo", "t3a")


class PixelsLast(nn.Module):
    """(batch, channels, height, width) to (batch, pixels, channels)."""

    def forward(self, inputs: Tensor) -> Tensor:
        return inputs.flatten(2).transpose(1, 2)


def pooled(*body: nn.Module) -> nn.Sequential:
    """A network whose classifier is a 1 x 1 convolution before a pooling."""
    return nn.Sequential(*body, nn.AdaptiveAvgPool2d(1), nn.Flatten())


@pytest.mark.parametrize("method", METHODS)
def test_a_model_without_features_is_refused(method: str) -> None:
    adapter = trimtab.adapt(pooled(nn.Conv2d(3, 5, 1)), method)
    with pytest.raises(ValueError, match="name the module that classifies them with classifier="):
        adapter(torch.rand(2, 3, 4, 4))


@pytest.mark.parametrize("method", METHODS)
def test_a_convolution_is_no_linear_classifier(method: str) -> None:
    backbone = trimtab.Backbone(pooled(nn.Conv2d(3, 6, 1), nn.Conv2d(6, 5, 1)), classifier="1")
    with pytest.raises(ValueError, match=r"a linear classifier with weights of shape \(5, 96\)"):
        trimtab.adapt(backbone, method)(torch.rand(2, 3, 4, 4))


@pytest.mark.parametrize("method", METHODS)
def test_a_linear_layer_of_each_pixel_is_none_either(method: str) -> None:
    ends = nn.AdaptiveAvgPool2d((1, 5)), nn.Flatten()
    model = nn.Sequential(nn.Conv2d(3, 6, 1), PixelsLast(), nn.Linear(6, 5), *ends)
    with pytest.raises(ValueError, match=r"shape \(5, 96\).*got weights of shape \(5, 6\)"):
        trimtab.adapt(model, method)(torch.rand(2, 3, 4, 4))


@pytest.mark.parametrize("method", METHODS)
def test_a_classifier_without_weights_is_refused(method: str) -> None:
    model = nn.Sequential(nn.Flatten(), nn.Linear(48, 5), nn.Identity())
    with pytest.raises(ValueError, match=r"weights of shape \(5, 5\).*got none"):
        trimtab.adapt(trimtab.Backbone(model, classifier="2"), method)(torch.rand(2, 3, 4, 4))
