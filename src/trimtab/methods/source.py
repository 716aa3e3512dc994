"""The source model as it is: what every method has to beat."""

from trimtab.core.method import Method
from trimtab.core.norm import SOURCE


def source() -> Method:
    """Predict with the source weights and statistics; learn nothing."""
    return Method(norm=SOURCE)
