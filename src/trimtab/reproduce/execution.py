"""Does what an experiment asks for and is not done yet, and gathers what was found."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from trimtab.bench.plan import with_fingerprints
from trimtab.bench.pool import Killed, in_processes
from trimtab.bench.spec import RunSpec
from trimtab.bench.store import RunStore
from trimtab.reproduce.experiment import Experiment
from trimtab.reproduce.findings import Findings
from trimtab.reproduce.setup import Setup
from trimtab.reproduce.study import Study, StudyStore


def all_runs(experiments: Iterable[Experiment], setup: Setup) -> list[RunSpec]:
    """The runs of all experiments; those that several share are there once."""
    specs = [spec for experiment in experiments for spec in experiment.runs(setup)]
    return list({spec.id: spec for spec in with_fingerprints(specs)}.values())


def all_studies(experiments: Iterable[Experiment], setup: Setup) -> list[Study]:
    """The studies of all experiments."""
    studies = [study for experiment in experiments for study in experiment.studies(setup)]
    return list({study.id: study for study in studies}.values())


def do_studies(studies: Sequence[Study], folder: str, workers: int) -> Iterator[Study]:
    """Do the studies that are not done yet, ``workers`` at a time; each as it is finished.

    One whose process is killed does not stop the others: it is done at the next start.
    """
    killed = []
    for study, outcome in in_processes(partial(_do, folder=folder), studies, workers):
        if isinstance(outcome, Killed):
            killed.append(study.label)
        yield study
    if killed:
        raise ChildProcessError(
            f"the processes of {len(killed)} studies were killed ({'; '.join(killed)}); start "
            "again to do those that are left"
        )


def _do(study: Study, folder: str) -> None:
    import torch

    torch.set_num_threads(1)
    StudyStore(folder).put(study, study.measure())


def findings(experiment: Experiment, setup: Setup, folder: str) -> Findings:
    """What is there of what the experiment asks for."""
    runs = RunStore(folder)
    results = [runs.get(spec) for spec in all_runs([experiment], setup)]
    done = tuple(result for result in results if result is not None and result.scores is not None)
    store = StudyStore(folder)
    studies = [(study, store.get(study)) for study in all_studies([experiment], setup)]
    records = tuple((study, record) for study, record in studies if record is not None)
    return Findings(setup, done, records)
