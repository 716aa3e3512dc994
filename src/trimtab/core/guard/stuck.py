"""A stuck camera: batches that repeat one frame, for which batch norms have no statistics.

However many copies of one image a batch holds, its statistics are those of a single image, and a
network that normalises by them may say anything, as stably and as surely as ever. No comparison of
the two models tells which of them is right about the frame; that it is repeated tells that the
adapted one has nothing to go by.
"""

from torch import Tensor

from trimtab.core.structured import Structured

MOSTLY = 0.5
"""Share of a batch's samples that repeat the one before them, from which on it is stuck."""


def is_stuck(inputs: Tensor) -> bool:
    """Whether a batch of images repeats one frame, or few, to the bit."""
    if isinstance(inputs, Structured) or inputs.dim() != 4 or len(inputs) < 2:
        return False
    middle = inputs[:, :, inputs.shape[2] // 2].flatten(1)  # a row of pixels tells most apart
    same = (middle[1:] == middle[:-1]).all(1).nonzero().flatten()
    if len(same) < MOSTLY * (len(inputs) - 1):
        return False
    same = same[(inputs[same + 1] == inputs[same]).flatten(1).all(1)]
    return len(same) >= MOSTLY * (len(inputs) - 1)
