"""What experiments say, as Markdown: claims and tables, without the figures."""

from collections.abc import Mapping, Sequence

from trimtab.report.formats.markdown_grid import escaped, grid
from trimtab.reproduce.analysis import Analysis, Claim, NumberTable
from trimtab.reproduce.experiment import Experiment, done_without_images
from trimtab.reproduce.setup import Setup


def markdown(title: str, setup: Setup, found: Mapping[str, tuple[Experiment, Analysis]]) -> str:
    """The whole text, of experiments by name."""
    claims = [claim for _, analysis in found.values() for claim in analysis.claims]
    held = sum(claim.holds is True for claim in claims)
    close = sum(claim.close for claim in claims)
    count = setup.images_per_domain
    images = "as many images as in the paper" if count is None else f"{count} images"
    simulated = done_without_images(experiment for experiment, _ in found.values())
    done_on = f"{setup.data} with {', '.join(setup.networks)}, {images} per domain"
    parts = [
        f"# {escaped(title)}",
        f"{held} of {len(claims)} claims hold here, {close} are too close to say: "
        f"{simulated or done_on}, "
        f"batches of {setup.batch_size}, seeds {', '.join(str(seed) for seed in setup.seeds)}.",
        *(_experiment(experiment, analysis) for experiment, analysis in found.values()),
    ]
    return "\n\n".join(parts) + "\n"


def _experiment(experiment: Experiment, analysis: Analysis) -> str:
    parts = [f"## {experiment.title}", f"{experiment.question} ({experiment.place}.)"]
    if analysis.claims:
        parts.append(_claims(analysis.claims))
    parts += [f"{escaped(table.title)}:\n\n{_table(table)}" for table in analysis.tables]
    return "\n\n".join(parts)


def _claims(claims: Sequence[Claim]) -> str:
    rows = [
        [
            claim.text,
            f"**{claim.verdict}**" if claim.holds is False else claim.verdict,
            escaped(claim.numbers),
        ]
        for claim in claims
    ]
    return grid(["Claim", "Verdict", "Here"], rows, numbers=False).rstrip()


def _table(table: NumberTable) -> str:
    rows = [[name, *(str(number) for number in numbers)] for name, numbers in table.rows]
    return grid(["", *table.columns], rows).rstrip()
