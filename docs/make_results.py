"""Write docs/results.md: ``python docs/make_results.py``.

Of the results kept in ``benchmarks/results/shipped.json``, or of those named; new ones are made by
``trimtab bench shipped --submission benchmarks/results/shipped.json``.
"""

import argparse
import platform
from pathlib import Path

from trimtab.bench.submission import read_results
from trimtab.core.files import write_whole
from trimtab.report import formats
from trimtab.report.metrics import AVERAGES
from trimtab.report.table import tables

PAGE = Path(__file__).parent / "results.md"
RESULTS = PAGE.parents[1] / "benchmarks" / "results" / "shipped.json"

HEAD = """<!-- Made by docs/make_results.py from the results of `trimtab bench shipped`. -->

# Results

What the shipped networks and methods do on corrupted images, with every method at its default
settings: error in percent over the stream, severity 5, the fifteen corruptions, made on the fly
from clean test images. BN, GN and LN say which norm layers a network has; `trimtab models` knows
them as `cifar10_resnet20_bn`, `fashion_vit` and so on. `trimtab data cifar10` and
`trimtab bench shipped` make the numbers again.
Measured on {machine}.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "results",
        type=Path,
        nargs="?",
        default=RESULTS,
        help="folder or submission that trimtab bench wrote",
    )
    results = read_results(parser.parse_args().results)
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
