"""What a stream hands out."""

from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """Images that arrive together, with what only the scorer may know.

    ``inputs`` are float32 in [0, 1], images x 3 x height x width. The others have one int64 per
    image: ``labels`` (one per pixel where the dataset has masks), ``domain`` (a place in the
    stream's ``domain_names``), ``severity`` (0 is clean) and ``index`` (the image's number in its
    dataset). ``visit`` counts the stretches of the stream, ``starts_domain`` marks the first batch
    of a domain, and ``reset`` asks for an adapter's reset before this batch.
    """

    inputs: Tensor
    labels: Tensor
    domain: Tensor
    severity: Tensor
    index: Tensor
    visit: int
    starts_domain: bool
    reset: bool

    def __len__(self) -> int:
        return len(self.labels)
