"""What an experiment is: what to run on a setup, and what to make of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from trimtab.bench.spec import RunSpec
from trimtab.reproduce.analysis import Analysis
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Study


def no_studies(_setup: Setup) -> Sequence[Study]:
    """For experiments that are made of runs alone."""
    return ()


@dataclass(frozen=True)
class Experiment:
    """One table or figure.

    Args:
        title: A few words.
        paper: Where it stands there; nothing for one of our own.
        question: What it answers, in a sentence.
        runs: What to run; runs that other experiments share are done once.
        analyse: From what was found to tables, figures and claims.
        studies: Measurements that are no runs along a stream.
        needs: What has to be there besides images and networks.
        data: What it is done on where that is not the setup's images and networks.
    """

    title: str
    paper: str
    question: str
    runs: Callable[[Setup], Sequence[RunSpec]]
    analyse: Callable[[Findings], Analysis]
    studies: Callable[[Setup], Sequence[Study]] = no_studies
    needs: str = ""
    data: str = ""

    @property
    def place(self) -> str:
        """Where it stands, for readers."""
        return f"{self.paper} of the paper" if self.paper else "not in the paper"


def done_without_images(experiments: Iterable[Experiment]) -> str:
    """What all of them are done on where no images are needed; nothing where some need them."""
    found = {experiment.data for experiment in experiments}
    return found.pop() if len(found) == 1 else ""
