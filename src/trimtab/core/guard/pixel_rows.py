"""Dense predictions as rows: what a guard looks at of the pixels of an image.

The pixels of an image are alike, so an image stays one observation: what it tells is the mean over
a grid of its pixels. Where a row has room for one class, it is that of one pixel, another place in
each image.
"""

from torch import Tensor

from trimtab.core.task import on_grid

GRID_PIXELS = 256
"""Most pixels of an image that are looked at."""
GOLDEN = 0.6180339887498949
"""Multiples of this fill the unit interval evenly, however many there are."""


def rows_of(logits: Tensor) -> Tensor:
    """Logits of a grid of pixels, image after image: (images * pixels, classes)."""
    return on_grid(logits, GRID_PIXELS).movedim(1, -1).flatten(0, -2)


def one_of_each(logits: Tensor, first: int = 0) -> Tensor:
    """One row for each image, (images, classes): logits of samples as they are, or of a pixel.

    Args:
        first: Number of the first image among those looked at, which decides the place.
    """
    if logits.dim() == 2:
        return logits
    places = logits.flatten(2)
    count = places.shape[2]
    chosen = [int(GOLDEN * (first + number) % 1 * count) for number in range(len(logits))]
    return places[range(len(logits)), :, chosen]
