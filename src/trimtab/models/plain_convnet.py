"""Plain convolutional network without shortcuts, after VGG (arXiv:1409.1556), at CIFAR's size."""

from torch import Tensor, nn

from trimtab.models.norm_layers import NORM_LAYERS

Stages = tuple[tuple[int, ...], ...]
"""Output channels of each 3x3 convolution, stage by stage."""


class PlainConvNet(nn.Module):
    """Logits (batch, classes) for images (batch, 3, 32, 32).

    Each 3x3 convolution is followed by a norm layer and a ReLU; between two stages of ``stages``
    max pooling halves the image.
    """

    def __init__(self, stages: Stages, *, num_classes: int = 10, norm: str = "batch") -> None:
        super().__init__()
        channels, layers = 3, list[nn.Module]()
        for number, stage in enumerate(stages):
            layers += [nn.MaxPool2d(2)] if number else []
            for outside in stage:
                convolution = nn.Conv2d(channels, outside, 3, padding=1, bias=False)
                nn.init.kaiming_normal_(convolution.weight, mode="fan_out", nonlinearity="relu")
                layers += [convolution, NORM_LAYERS[norm](outside), nn.ReLU()]
                channels = outside
        self.features = nn.Sequential(*layers)
        self.linear = nn.Linear(channels, num_classes)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.linear(self.features(inputs).mean(dim=(2, 3)))  # type: ignore[no-any-return]
