"""Writes the notebooks of this folder from the cells (``# %%``) of three scripts."""

import ast
import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCRIPTS = ("single_samples", "health_and_rollback", "compare_methods")
CELL = re.compile(r"^# %%(.*)\n", re.MULTILINE)


def cell(kind: str, number: int, text: str) -> dict[str, Any]:
    """One cell of notebook format 4.5."""
    made = {
        "cell_type": kind,
        "id": f"{kind}-{number}",
        "metadata": {},
        "source": text.strip("\n").splitlines(keepends=True),
    }
    return made if kind == "markdown" else {**made, "execution_count": None, "outputs": []}


def notebook(script: str) -> str:
    """The notebook of a script, as JSON: its docstring, then a cell for each ``# %%``."""
    tree = ast.parse(script)
    words = (ast.get_docstring(tree) or "").split("\n\n")
    told = [words[0], *(part for part in words[1:] if "python examples/" not in part)]
    cells = [cell("markdown", 0, "# " + "\n\n".join(told))]
    _, *pieces = CELL.split(script)
    for number, (title, code) in enumerate(zip(pieces[::2], pieces[1::2], strict=True), start=1):
        cells += [cell("markdown", number, title.strip())] if title.strip() else []
        cells.append(cell("code", number, code))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in SCRIPTS:
        text = notebook((HERE / f"{name}.py").read_text(encoding="utf-8"))
        (HERE / f"{name}.ipynb").write_text(text, encoding="utf-8")
