"""HTTP errors: a request that is not done, with its status and a sentence."""

from collections.abc import Mapping


class RequestError(Exception):
    """What was expected, what came, what to do; nothing was changed.

    Args:
        status: HTTP status, 400 to 599.
        headers: More headers of the answer, ``Retry-After`` for example.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})


def too_many(message: str, seconds: float) -> RequestError:
    """429 with the whole seconds after which to try again."""
    return RequestError(429, message, {"Retry-After": str(max(1, round(seconds + 0.499)))})
