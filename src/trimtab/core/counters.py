"""What a stream has cost so far."""

from dataclasses import dataclass


@dataclass
class Counters:
    """Work done since the stream started; a reset does not clear it.

    ``forward_samples`` and ``backward_samples`` count every image that went through the network
    in either direction, so that divided by ``samples`` they are passes per sample.
    """

    samples: int = 0
    forward_samples: int = 0
    backward_samples: int = 0
    updates: int = 0
    skipped_updates: int = 0
    resets: int = 0
