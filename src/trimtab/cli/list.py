"""``trimtab list``: the names of everything that has one."""

import argparse

KINDS = ("methods", "components", "models", "data", "scenarios", "corruptions", "suites")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", nargs="?", choices=KINDS)
    parser.set_defaults(help=parser.format_help)


def run(args: argparse.Namespace) -> None:
    if args.what is None:
        print(args.help(), end="")
        return
    from rich.table import Column, Table

    from trimtab.cli.console import console

    table = Table(Column("name", no_wrap=True), "what it is")
    for name, summary in sorted(_rows(args.what).items()):
        table.add_row(name, plain(summary))
    console().print(table)


def plain(text: str) -> str:
    """A docstring's line without the signs of reStructuredText: backticks and roles."""
    return text.replace("`", "")


def _rows(what: str) -> dict[str, str]:
    if what == "suites":
        from trimtab.bench.suite import SUITES, load

        return {name: load(name).title for name in SUITES}
    if what == "models":
        from trimtab.models import MODELS

        return {name: f"{e.architecture}, {e.norm_layers}" for name, e in MODELS.items()}
    if what in ("methods", "components"):
        import trimtab

        table = trimtab.METHODS if what == "methods" else trimtab.COMPONENTS
        return {name: _summary(item) for name, item in table.items()}
    return _stream_rows(what)


def _stream_rows(what: str) -> dict[str, str]:
    from trimtab.streams.corruptions import CORRUPTIONS
    from trimtab.streams.data import DATASETS
    from trimtab.streams.scenarios import SCENARIOS

    if what == "scenarios":
        return {name: _summary(item) for name, item in SCENARIOS.items()}
    if what == "corruptions":
        return {name: _summary(item) for name, item in CORRUPTIONS.items()}
    return {name: _summary(item) for name, item in DATASETS.items()}


def _summary(item: object) -> str:
    return (item.__doc__ or "").strip().splitlines()[0]
