"""Warnings that tell a user what to change, and point to the user's own line."""

import sys
import warnings
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).parents[1])


class TrimtabWarning(UserWarning):
    """Advice: the stream goes on, but something about it can be done better."""


def advise(message: str) -> None:
    """Warn at the line from which this package was called."""
    frame: FrameType | None = sys._getframe()
    depth = outermost = 0
    while frame is not None:
        depth += 1
        outermost = depth if frame.f_code.co_filename.startswith(PACKAGE) else outermost
        frame = frame.f_back
    warnings.warn(message, TrimtabWarning, stacklevel=outermost + 1)
