"""A hook of mkdocs: pictures that the site makes for itself, and that the repository does not keep.

Pages name them in a comment, ``<!-- site: ![words](corruptions.png) -->``, which is a picture on
the site and nothing elsewhere.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SITE_ONLY = re.compile(r"<!-- site: (.*?) -->", re.DOTALL)


def corruptions() -> bytes:
    """Every corruption at every severity of one image that comes with the package, as a PNG."""
    from trimtab.streams.contact_sheet import contact_sheet
    from trimtab.streams.embedded import load

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "corruptions.png"
        contact_sheet(load().pixels([18])[0], path)
        return path.read_bytes()


PICTURES: dict[str, Callable[[], bytes]] = {"corruptions.png": corruptions}


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pictures to the site's files."""
    from mkdocs.structure.files import File

    for name, made in PICTURES.items():
        files.append(File.generated(config, name, content=made()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page's text with its pictures."""
    return SITE_ONLY.sub(r"\1", markdown)
