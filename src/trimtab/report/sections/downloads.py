"""The page's numbers as CSV and JSON files, inside the page: saving them asks no network."""

import base64
from collections.abc import Mapping

from trimtab.report import formats
from trimtab.report.comparison import Comparison
from trimtab.report.markup import Markup, element
from trimtab.report.metrics import ERROR
from trimtab.report.table import Table

KINDS = {"csv": "text/csv", "json": "application/json"}


def downloads(tables: list[Table], comparison: Comparison | None) -> Markup:
    """A line with a link for each format."""
    return download_links({k: formats.write(k, tables, ERROR, comparison) for k in KINDS})


def download_links(texts: Mapping[str, str]) -> Markup:
    """The line, of a file's text by format."""
    links = [_link(kind, text) for kind, text in texts.items()]
    return element("p", "All numbers of this page as files: ", *links, class_="downloads")


def _link(kind: str, text: str) -> Markup:
    packed = base64.b64encode(text.encode()).decode()
    return element(
        "a",
        kind.upper(),
        href=f"data:{KINDS[kind]};charset=utf-8;base64,{packed}",
        download=f"results.{kind}",
    )
