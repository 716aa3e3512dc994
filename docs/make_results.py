"""Writes docs/results.md: ``trimtab bench shipped``, then ``python docs/make_results.py STORE``."""

import argparse
import platform
from pathlib import Path

from trimtab.bench.store import RunStore
from trimtab.core.files import write_whole
from trimtab.report import formats
from trimtab.report.metrics import AVERAGES
from trimtab.report.table import tables

PAGE = Path(__file__).parent / "results.md"

HEAD = """<!-- Made by docs/make_results.py from the results of `trimtab bench shipped`. -->

# Results

What the shipped networks and methods do on corrupted images, with every method at its default
settings: error in percent over the stream, severity 5, the fifteen corruptions, made on the fly
from clean test images. `trimtab data cifar10` and `trimtab bench shipped` make the numbers again.
Measured on {machine}.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("store", type=Path, help="folder that trimtab bench wrote")
    results = list(RunStore(parser.parse_args().store))
    if not results:
        raise SystemExit("no results there; run: trimtab bench shipped")
    facts = results[0].machine
    machine = (
        f"{facts['cores']} cores ({facts['processor']}), one thread a run, {platform.system()}"
    )
    head = HEAD.format(machine=machine)
    body = formats.write("md", tables(results), AVERAGES["samples"], None)
    notes = PAGE.with_name("results-notes.md")
    text = head + body + ("\n" + notes.read_text() if notes.exists() else "")
    write_whole(PAGE, text.encode())


if __name__ == "__main__":
    main()
