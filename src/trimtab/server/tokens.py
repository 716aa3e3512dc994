"""Bearer tokens (RFC 6750): who may use which streams."""

import hashlib
import hmac
import os
from dataclasses import dataclass
from pathlib import Path

from trimtab.server.errors import RequestError

LEAST_LENGTH = 16


@dataclass(frozen=True)
class Owner:
    """Somebody who may use the streams whose ids begin with ``prefix``; all, where it is empty."""

    prefix: str = ""

    def owns(self, stream: str) -> bool:
        return stream.startswith(self.prefix)

    def check(self, stream: str | None) -> None:
        """Refuse the use of a stream of somebody else."""
        if stream is not None and not self.owns(stream):
            raise RequestError(403, f"this token is for stream ids that begin with {self.prefix!r}")


ANYBODY = Owner()


class Tokens:
    """Tokens and what they own; only their hashes are kept. Without any, everybody owns all."""

    def __init__(self, owners: dict[str, Owner] | None = None) -> None:
        self._owners = [(_hashed(token), owner) for token, owner in (owners or {}).items()]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Tokens":
        """From a file with a token, a space and a prefix (or no prefix) a line; # for remarks."""
        owners: dict[str, Owner] = {}
        for place, line in enumerate(Path(path).read_text().splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) > 2 or len(words[0]) < LEAST_LENGTH:
                raise ValueError(
                    f"{path}, line {place}: expected a token of at least {LEAST_LENGTH} "
                    "characters, and behind it at most a prefix of stream ids"
                )
            owners[words[0]] = Owner(*words[1:])
        if not owners:
            raise ValueError(f"{path} has no token, so nobody could use the server; add a line")
        return cls(owners)

    def owner(self, authorization: str | None) -> Owner:
        """Who sends this header; ``RequestError`` with 401 where that is nobody."""
        if not self._owners:
            return ANYBODY
        kind, _, token = (authorization or "").partition(" ")
        given = _hashed(token.strip())
        found = [owner for known, owner in self._owners if hmac.compare_digest(known, given)]
        if kind.lower() != "bearer" or not found:
            raise RequestError(
                401,
                "a known token is needed: send the header Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )
        return found[0]


def _hashed(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
