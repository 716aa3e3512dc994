"""What ``trimtab demo`` shows, on made-up results, as a terminal or a file gets it.

``python -m cli.demo_screens`` in ``tests`` writes the recordings anew; look at them before you
keep them.
"""

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from unittest import mock

from rich.console import Console

from report import stores
from trimtab.bench.display import follow
from trimtab.bench.result import RunResult
from trimtab.bench.spec import RunSpec
from trimtab.bench.store import RunStore
from trimtab.cli.main import main

RECORDED = Path(__file__).parent / "recorded"
SCREENS = {"80 columns": (80, True), "120 columns": (120, True), "piped": (80, False)}

GAINS = {"source": 0.0, "bn1": 0.05, "tent": 0.07, "eata": 0.06, "roid": 0.11, "lame": -0.2}
GAINS |= {"trimtab": 0.15}


def made_up(spec: RunSpec) -> RunResult:
    """A result of which nothing is real: EATA fails in one setting, LAME collapses in two."""
    source = 0.45 if "bn" in spec.model else 0.2
    if (spec.method, spec.scenario) == ("eata", "mixed"):
        return stores.failed(spec, "ValueError: made up")
    harmful = spec.method == "lame" and "bn" in spec.model
    error = source - (GAINS[spec.method] if spec.method != "lame" or harmful else 0.03)
    return stores.done(spec, error, source_error=source, collapsed=harmful)


class Clock:
    """Stands still but for ten seconds a run, so that rates never change."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


CLOCK = Clock()


def executor(threads: int = 1) -> object:
    def execute(specs: Sequence[RunSpec], store: RunStore) -> Iterator[RunResult]:
        for spec in specs:
            CLOCK.seconds += 10.0
            store.put(made_up(spec))
            yield made_up(spec)

    return execute


def screen(width: int, terminal: bool) -> str:
    """The output as it stands in the end, with times and folders that never change."""
    paper = io.StringIO()
    console = Console(
        file=paper, width=width, force_terminal=terminal, color_system=None, markup=False,
        emoji=False, highlight=False,
    )  # fmt: skip
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch("trimtab.cli.console.console", return_value=console),
        mock.patch("trimtab.bench.executors.here", executor),
        mock.patch("trimtab.bench.execution.follow", partial(follow, clock=CLOCK)),
    ):
        here = Path.cwd()
        os.chdir(folder)
        try:
            status = main(["demo", "--workers", "1", "--store", "results"])
        finally:
            os.chdir(here)
        assert status == 1  # one failure is made up
        text = paper.getvalue().replace(os.path.realpath(folder), "/home/you")
    return _settled(text)


def _settled(text: str) -> str:
    lines = [line.rpartition("\r")[2] for line in text.split("\n")]
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", "\n".join(lines))
    return "\n".join(line.rstrip() for line in plain.splitlines()) + "\n"


def path_of(name: str) -> Path:
    return RECORDED / f"demo {name}.txt"


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    for name, kind in SCREENS.items():
        path_of(name).write_text(screen(*kind), encoding="utf-8")
        sys.stdout.write(path_of(name).read_text(encoding="utf-8"))
