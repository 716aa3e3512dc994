"""The endpoints on a page for people: made of the OpenAPI description, without any script."""

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import FastAPI, Response

from trimtab.server.eyes import SAFE

Described = dict[str, Any]

_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}: endpoints</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page/style.css">
</head>
<body>
<header><h1>{title} <small>{version}</small></h1></header>
<main>
<p>{description} <a href="openapi.json">openapi.json</a> says all of this to programs.</p>
<div class="wide"><table class="prose">
<thead><tr><th>request</th><th>what</th><th>parameters</th><th>answers</th></tr></thead>
<tbody>
{rows}
</tbody>
</table></div>
</main>
</body>
</html>
"""


def add_reference(app: FastAPI) -> None:
    """Add ``/docs`` to the application, whose other endpoints it lists."""

    @app.get("/docs", include_in_schema=False)
    async def reference() -> Response:
        return Response(_page(app.openapi()), media_type="text/html", headers=SAFE)


def _page(described: Described) -> str:
    info = {name: escape(str(text)) for name, text in described["info"].items()}
    return _FRAME.format(rows="\n".join(_rows(described["paths"])), **info)


def _rows(paths: Described) -> Iterator[str]:
    for path, verbs in paths.items():
        for verb, operation in verbs.items():
            cells = (
                f"{verb.upper()} {path}",
                operation.get("summary", ""),
                ", ".join(_parameters(operation)),
                ", ".join(f"{status} {a['description']}" for status, a in _answers(operation)),
            )
            yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"


def _parameters(operation: Described) -> Iterator[str]:
    """Names of what a request may say, in its address and in its JSON body."""
    yield from (parameter["name"] for parameter in operation.get("parameters", ()))
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    for name, value in schema.get("properties", {}).items():
        inner = value.get("properties", {})
        yield from (f"{name}.{key}" for key in inner) if inner else (name,)


def _answers(operation: Described) -> list[tuple[str, Described]]:
    return sorted(operation.get("responses", {}).items())
