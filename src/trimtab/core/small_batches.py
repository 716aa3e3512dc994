"""BN adaptation from single samples: statistics that follow the stream where batches are small."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from trimtab.core import component as roles
from trimtab.core.advice import advise
from trimtab.core.norm import BATCH, NormPolicy, tracking

if TYPE_CHECKING:
    from trimtab.core.attempt import Attempt

FEWEST_SAMPLES = 16
"""A smaller batch has no statistics of its own that are worth normalising by."""

FEWEST_OF_A_REST = 4
"""What is left over of a domain or an epoch, in a stream of ordinary batches, may be this small:
its own statistics are then nearer to the domain's than the source's are."""

SOURCE_SAMPLES, STREAM_SAMPLES = 16, 64
"""How many samples the statistics that are followed count for: the source's at first, and at most
so many of the stream's, exponentially weighted."""

SAMPLES_OF_PIXELS = 4
"""An image with a prediction for each pixel counts for so many samples, alike as its pixels are."""

WHOLE_UPDATE_SAMPLES = 64
"""Smaller batches than this, where they are small, move the weights by their share of it."""


def take_note(attempt: Attempt, samples: int, at_once: int) -> None:
    """Note on an attempt whether its batch is too small for statistics of its own.

    Args:
        samples: How many came.
        at_once: How many of them pass the network together.
    """
    worth = SAMPLES_OF_PIXELS if attempt.backbone.task.is_dense else 1
    attempt.follows_stream = (
        attempt.backbone.has_batch_norm
        and attempt.method.norm == BATCH
        and attempt.state.window.size is None
        and at_once * worth < FEWEST_SAMPLES
        and not attempt.playing(roles.NormRule)  # which decides for batches of any size
        and not _is_rest(attempt, at_once * worth)
    )
    if not attempt.follows_stream:
        return
    # Optimisers such as Adam step as far for one sample as for many; so single samples move the
    # weights about as far in all as the batches that they could have come in.
    attempt.update_share = min(1.0, samples * worth / WHOLE_UPDATE_SAMPLES)
    if not attempt.state.followed_samples:
        advise(
            f"this network has batch norms, and {at_once} of the {FEWEST_SAMPLES // worth} samples "
            "that their statistics need came at once: statistics that follow the stream are used "
            "instead, and updates count by their samples; window=64 learns once every 64 samples, "
            "for less work"
        )


def _is_rest(attempt: Attempt, samples: int) -> bool:
    """Whether a small batch is the rest of something in a stream that came in ordinary batches."""
    before = attempt.origin  # which a prediction and a step have in common
    return (
        samples >= FEWEST_OF_A_REST
        and before.followed_samples == 0
        and before.pace.samples >= FEWEST_SAMPLES  # counters survive a reset, this does not
    )


def following(attempt: Attempt, samples: int) -> NormPolicy:
    """The policy of a small batch: stored statistics move by its share of what they know.

    They begin as the source's and are constants for gradients.
    """
    known = min(STREAM_SAMPLES, SOURCE_SAMPLES + attempt.state.followed_samples)
    return replace(tracking(known, samples), differentiable=False)
