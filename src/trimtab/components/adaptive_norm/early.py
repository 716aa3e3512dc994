"""The first half of a network's batch norms while a batch shows few classes: whose statistics.

Its own mend the domain, and erase a little of the class. So stored ones are used where a batch is
of several domains at once, and its statistics are those of none of them.
"""

from trimtab.core.backbone import Tensors
from trimtab.core.looks import Looks

EARLY_SHARE = 0.5
"""Weight of a batch's statistics in the first half while the later half uses stored ones."""
MIXED_SPREAD = 0.21
"""Spread of roughness within a batch from which its samples are of several domains. On validation
domains single ones have up to 0.18, and mixed ones 0.24 or more if they differ in texture."""


def see_looks(before: Looks, now: Looks, memory: Tensors) -> None:
    """Notice batches of several domains: two in a row, since one may begin within a batch."""
    several = min(before.texture_spread, now.texture_spread) >= MIXED_SPREAD
    memory["early_share"].fill_(0.0 if several else EARLY_SHARE)
