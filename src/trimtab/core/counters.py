"""What a stream has cost so far."""

from dataclasses import dataclass, fields


@dataclass
class Counters:
    """Work done since the stream started; a reset does not clear it.

    ``forward_samples`` and ``backward_samples`` count every image that went through the network
    in either direction, so that divided by ``samples`` they are passes per sample.
    ``refused_samples`` were far outside the range that the stream has shown; the source model
    predicted them, and nothing was learned from them.
    """

    samples: int = 0
    forward_samples: int = 0
    backward_samples: int = 0
    updates: int = 0
    skipped_updates: int = 0
    resets: int = 0
    refused_samples: int = 0

    def plus(self, other: "Counters") -> "Counters":
        """The work of both."""
        names = [field.name for field in fields(self)]
        return Counters(**{name: getattr(self, name) + getattr(other, name) for name in names})
