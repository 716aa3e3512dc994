"""What a server is told when it starts."""

from dataclasses import dataclass, field
from typing import Literal

from trimtab.core.ranges import check_not_negative, check_whole
from trimtab.server.limits import Limits
from trimtab.server.streams import Saving
from trimtab.server.tokens import Tokens

Anonymous = Literal["source", "stream"]

ANONYMOUS = "anonymous"
"""Stream of requests without a sequence id, where they are to have one."""


@dataclass(frozen=True)
class Settings:
    """How one model is served.

    Args:
        model: Its name in URLs.
        method: As metrics name it.
        sample_shape: Shape of one sample, e.g. (3, 32, 32).
        num_classes: Classes that the logits are of.
        anonymous: Who answers requests without a sequence id: the source model, or one stream
            called ``anonymous`` that learns from them all.
        max_batch: Most samples in one fleet step.
        max_delay_seconds: How long a request waits for others.
    """

    model: str
    method: str
    sample_shape: tuple[int, ...]
    num_classes: int
    anonymous: Anonymous = "source"
    max_batch: int = 64
    max_delay_seconds: float = 0.005
    limits: Limits = field(default_factory=Limits)
    saving: Saving = field(default_factory=Saving)
    tokens: Tokens = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        if not self.model or "/" in self.model:
            raise ValueError(
                f"a served model's name is one part of a path, got {self.model!r}; give another "
                "--name, without /"
            )
        check_whole("max_batch", self.max_batch, "sample")
        check_not_negative(self, "max_delay_seconds")
