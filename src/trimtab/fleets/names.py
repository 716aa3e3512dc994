"""What streams may be called, and what follows from a name: a seed and a file's name."""

import hashlib
import re

MOST_LETTERS = 200
"""Of a file's name, without its ending; file systems take 255."""

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_CODE = re.compile(r"_([0-9a-f]{2})")


def check(name: str) -> None:
    """Refuse what cannot name a stream, with a ValueError."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"a stream's name must be a string of some letters, got {name!r}")
    if len(file_stem(name)) > MOST_LETTERS:
        raise ValueError(
            f"a stream's name may have {MOST_LETTERS} letters, of which all but a-z, 0-9 and - "
            f"count threefold, got {name[:40]!r}... of {len(name)}"
        )


def seed_of(name: str, seed: int) -> int:
    """The stream's own seed, whatever other streams there are and when they were opened."""
    digest = hashlib.sha256(f"{seed}/{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def file_stem(name: str) -> str:
    """A file's name, without an ending, that no other stream has on any file system.

    Small letters, digits and ``-`` stand for themselves, all else for its bytes: no name leads to
    another folder, and none differs from another by capitals alone.
    """
    letters = []
    for letter in name:
        coded = (f"_{byte:02x}" for byte in letter.encode("utf-8", "surrogatepass"))
        letters.append(letter if letter in _PLAIN else "".join(coded))
    return "".join(letters)


def name_of(stem: str) -> str | None:
    """The stream whose file this is; None where no stream's is called so."""
    try:
        raw = _CODE.sub(lambda code: chr(int(code[1], 16)), stem).encode("latin-1")
        name = raw.decode("utf-8", "surrogatepass")
    except UnicodeError:
        return None
    return name if name and file_stem(name) == stem else None
