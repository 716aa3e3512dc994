"""Small synthetic inputs for covariate shift: domains differ in texture, contrast and colour.

Rules that look at inputs see there that a domain begins. Classes differ a little in brightness
and contrast, as those of photographs do.
"""

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from trimtab.reproduce.simulation.classifier import DOMAINS
from trimtab.reproduce.simulation.orders import Labels

SHAPE = (3, 8, 8)
ROUGHNESS = (0.1, 0.9, 0.2, 0.9, 0.4)
"""Share of white noise in a domain's pattern; the rest is smooth."""
CONTRAST = (1.0, 0.5, 0.5, 1.5, 1.0)
COLOUR = (0.3, 0.3, 1.0, 0.1, 1.0)
OF_CLASS = 0.2
"""How far classes are apart in brightness and in the logarithm of contrast; samples are more."""
OF_SAMPLE = 0.4

Values = npt.NDArray[np.float32]


def domains_along(samples: int, batch_size: int) -> Labels:
    """The domain of each sample where five follow each other; none begins with a batch."""
    borders = [samples * number // DOMAINS for number in range(1, DOMAINS)]
    moved = [border + (batch_size // 2 if border % batch_size == 0 else 0) for border in borders]
    return np.searchsorted(moved, np.arange(samples), side="right").astype(np.int64)


def inputs_of(labels: Labels, domains: Labels, classes: int, rng: np.random.Generator) -> Tensor:
    """Inputs of samples of these classes in these domains, (samples, 3, 8, 8)."""
    brightness = _by_class_and_sample(labels, classes, rng)
    contrast = np.exp(_by_class_and_sample(labels, classes, rng))
    count, (channels, height, width) = len(labels), SHAPE
    white = rng.standard_normal((count, 1, height, width + 2), np.float32)
    smooth = (white[..., 2:] + white[..., 1:-1] + white[..., :-2]) / np.float32(3**0.5)
    tint = rng.standard_normal((count, channels, 1, 1), np.float32)
    rough, sharp, colour = (_column(values, domains) for values in (ROUGHNESS, CONTRAST, COLOUR))
    pattern = (1 - rough) * smooth + rough * white[..., 1:-1] + colour * tint
    values = brightness[:, None, None, None] + sharp * contrast[:, None, None, None] * pattern
    return torch.from_numpy(values.astype(np.float32))


def _by_class_and_sample(labels: Labels, classes: int, rng: np.random.Generator) -> Values:
    own = OF_CLASS * rng.standard_normal(classes, np.float32)
    return own[labels] + OF_SAMPLE * rng.standard_normal(len(labels), np.float32)


def _column(values: tuple[float, ...], domains: Labels) -> Values:
    return np.array(values, np.float32)[domains][:, None, None, None]
