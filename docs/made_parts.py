"""Parts of a page that a command makes, each between two comments: ``<!-- name -->`` and
``<!-- /name -->``. The rest of the page is written by hand."""

import re
from collections.abc import Mapping
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def filled(written: str, parts: Mapping[str, str], path: Path) -> str:
    """A page with its parts made anew: blocks of lines, or words within a line."""
    for name, made in parts.items():
        part = re.compile(f"(<!-- {name} -->)(\n?).*?(<!-- /{name} -->)", re.DOTALL)
        whole = part.sub(lambda m, made=made: _between(m, made), written)
        if len(part.findall(written)) != 1:
            count = len(part.findall(written))
            raise ValueError(f"{path.name} needs one part <!-- {name} -->, has {count}")
        written = whole
    return written


def _between(found: re.Match[str], made: str) -> str:
    begin, is_block, end = found.groups()
    return f"{begin}\n\n{made}\n{end}" if is_block else f"{begin}{made}{end}"
