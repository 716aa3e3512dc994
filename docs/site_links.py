"""A hook of mkdocs: links that make sense in the repository make sense on the site too.

Pages link to files outside of ``docs/`` (scripts, deployment), which are not on the site: their
names stay, the links go. The changelog is read from the top folder, and its links begin there.
"""

import re
from typing import Any

OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")
CHANGELOG = re.compile(r"^--8<-- \"CHANGELOG.md\"$", re.MULTILINE)


def on_page_markdown(markdown: str, *, config: Any, **_: Any) -> str:
    """The page's text with links that hold on the site."""
    if CHANGELOG.search(markdown):
        with open(f"{config['docs_dir']}/../CHANGELOG.md", encoding="utf-8") as file:  # noqa: PTH123
            markdown = CHANGELOG.sub(lambda _: file.read().replace("](docs/", "]("), markdown)
    return OUTSIDE.sub(r"\1", markdown)
