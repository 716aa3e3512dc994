"""``trimtab run``: one run, from the fields of its spec."""

import argparse

from trimtab.cli.bench import add_execution_arguments, execution_options, status


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--method", required=True, help="a name or a composition, e.g. roid")
    parser.add_argument("--model", required=True, help="a name (trimtab list models)")
    parser.add_argument("--data", required=True, help="a name (trimtab list data)")
    parser.add_argument("--scenario", default="continual", help="e.g. mixed_correlated(delta=0.1)")
    parser.add_argument(
        "--option", metavar="NAME=VALUE", action="append", default=[], help="of the method"
    )
    parser.add_argument("--severity", type=int, default=5)
    parser.add_argument("--images-per-domain", type=int, help="default: all")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--window", type=int, help="samples an update, for small batches")
    parser.add_argument("--seed", type=int, default=0)
    add_execution_arguments(parser)


def run(args: argparse.Namespace) -> int:
    from trimtab.bench import RunSpec, run_specs
    from trimtab.cli.console import console
    from trimtab.core.spec import assignment

    fields = (
        "method", "model", "data", "scenario", "severity", "images_per_domain", "batch_size",
        "window", "seed",
    )  # fmt: skip
    options = dict(map(assignment, args.option))
    spec = RunSpec(**{name: getattr(args, name) for name in fields}, options=options)
    args.workers = 1
    terminal = console()
    results = run_specs([spec], title=spec.label, **execution_options(args, terminal))
    for result in results:
        if result.scores is not None:
            terminal.print(
                f"error {100 * result.scores.error:.2f} % (source model "
                f"{100 * result.scores.source_error:.2f} %), ECE {100 * result.scores.ece:.1f} %"
            )
    return status(results, args, terminal)
