"""``trimtab reproduce``: the paper's experiments, resumable, with a page at the end."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trimtab.bench.names import counted
from trimtab.cli.bench import add_execution_arguments, execution_options, status

if TYPE_CHECKING:
    from rich.console import Console

    from trimtab.reproduce.experiment import Experiment
    from trimtab.reproduce.setup import Setup

CLAIMS = "claims"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        help="an experiment, or 'claims' for small versions of all of them",
    )
    parser.add_argument(
        "--list", action="store_true", help="say what each needs and how long it takes here"
    )
    parser.add_argument(
        "--data", default="fashion_mnist", help="images by name (default: %(default)s)"
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        action="append",
        help="a network instead of the data's own; may be given several times",
    )
    parser.add_argument(
        "--quick", action="store_true", help="few images, one seed, fewer methods; as in 'claims'"
    )
    parser.add_argument("--images", type=int, help="images per domain")
    parser.add_argument("--batch-size", type=int, help="images per batch")
    parser.add_argument("--seeds", type=int, nargs="+", help="a run for each")
    parser.add_argument(
        "--out", type=Path, help="the page, .html or .md (default: STORE/reproduce-NAME.html)"
    )
    add_execution_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from trimtab import reproduce
    from trimtab.cli.console import console

    terminal = console()
    if args.list:
        return _list(args, terminal)
    if args.name is None:
        known = ", ".join((*reproduce.EXPERIMENTS, CLAIMS))
        raise ValueError(f"which experiment? The known ones are {known}; --list says more")
    names = reproduce.NAMES if args.name == CLAIMS else (args.name,)
    experiments = {name: reproduce.load(name) for name in names}
    setup = _setup(args)
    code = _do(experiments, setup, args, terminal)
    _show(experiments, setup, args, terminal)
    return code


def _setup(args: argparse.Namespace) -> "Setup":
    from dataclasses import replace

    from trimtab.reproduce.setup import setup_for, small

    setup = setup_for(args.data, args.model)
    if args.quick or args.name == CLAIMS:
        setup = small(setup)
    given: dict[str, Any] = {
        "images_per_domain": args.images,
        "batch_size": args.batch_size,
        "seeds": None if args.seeds is None else tuple(args.seeds),
    }
    return replace(setup, **{key: value for key, value in given.items() if value is not None})


def _do(
    experiments: "dict[str, Experiment]",
    setup: "Setup",
    args: argparse.Namespace,
    console: "Console",
) -> int:
    """The runs, then the studies; whatever is done already is not done again."""
    from rich.progress import track

    from trimtab.bench import run_specs
    from trimtab.reproduce.execution import all_runs, all_studies, do_studies
    from trimtab.reproduce.study import StudyStore

    specs = all_runs(experiments.values(), setup)
    options = execution_options(args, console)
    results = run_specs(specs, title=args.name, **options) if specs else []
    store = StudyStore(args.store)
    waiting = [s for s in all_studies(experiments.values(), setup) if store.get(s) is None]
    if waiting:
        done = do_studies(waiting, args.store, args.workers)
        for _ in track(done, "studies", len(waiting), console=console):
            pass
    return status(results, args, console)


def _show(
    experiments: "dict[str, Experiment]",
    setup: "Setup",
    args: argparse.Namespace,
    console: "Console",
) -> None:
    from trimtab.core.files import write_whole
    from trimtab.reproduce.execution import findings
    from trimtab.reproduce.experiment import done_without_images
    from trimtab.reproduce.markdown import markdown
    from trimtab.reproduce.page import page
    from trimtab.reproduce.terminal import show

    found = {
        name: (experiment, experiment.analyse(findings(experiment, setup, args.store)))
        for name, experiment in experiments.items()
    }
    for name, (experiment, analysis) in found.items():
        show(name, experiment, analysis, console, tables=args.name != CLAIMS)
    path = args.out or Path(args.store) / f"reproduce-{args.name}.html"
    subject = "The paper's claims" if args.name == CLAIMS else experiments[args.name].title
    title = f"{subject} on {done_without_images(experiments.values()) or setup.data}"
    write = markdown if path.suffix == ".md" else page
    write_whole(path, write(title, setup, found).encode())
    console.print(f"Tables and figures are in {path.resolve()}", soft_wrap=True)


def _list(args: argparse.Namespace, terminal: "Console") -> int:
    from rich.table import Column, Table

    from trimtab import reproduce
    from trimtab.reproduce.duration import Stopwatch
    from trimtab.reproduce.execution import all_runs, all_studies
    from trimtab.reproduce.setup import small

    setup = _setup(args)
    with terminal.status("timing the networks"):
        stopwatch = Stopwatch(setup)
    numbers = [Column(head, justify="right", no_wrap=True) for head in ("runs", "minutes")]
    table = Table(Column("name", no_wrap=True), "what", *numbers)
    experiments = {name: reproduce.load(name) for name in reproduce.EXPERIMENTS}

    def add(name: str, chosen: "list[Experiment]", used: "Setup", what: str) -> None:
        specs, studies = all_runs(chosen, used), all_studies(chosen, used)
        minutes = stopwatch.minutes(specs, studies, args.workers)
        count = f"{len(specs)} + {len(studies)}" if studies else str(len(specs))
        table.add_row(name, what, count, f"{max(1, minutes):.0f}")

    for name, experiment in experiments.items():
        add(name, [experiment], setup, _in_words(experiment))
    papers = [experiments[name] for name in reproduce.NAMES]
    add(CLAIMS, papers, small(setup), "Small versions of all of the paper, claim by claim.")
    terminal.print(table)
    terminal.print(
        f"Minutes are estimated from a short look at this machine, for {setup.data} with "
        f"{', '.join(setup.networks)}, {counted(args.workers, 'run')} at a time; each goes on "
        f"where it was stopped. Runs + studies, where there are such. --quick takes a few "
        f"minutes, and other data need other files: see docs/reproduce.md."
    )
    return 0


def _in_words(experiment: "Experiment") -> str:
    """Title, place in the paper and needs, as sentences."""
    needs = f"Needs {experiment.needs}." if experiment.needs else ""
    place = f"{experiment.paper}." if experiment.paper else ""
    return " ".join(filter(None, (f"{experiment.title}.", place, needs)))
