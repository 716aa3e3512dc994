"""Every table and figure of the ROID paper (arXiv:2306.00650) as an experiment by name.

An experiment ``NAME`` is the module ``trimtab.reproduce.experiments.NAME`` (with ``_`` for ``-``)
and holds an ``EXPERIMENT``: what to run, and what to make of the results.
"""

from trimtab.registry import Registry
from trimtab.reproduce.experiment import Experiment

NAMES = (
    "continual",
    "mixed",
    "correlated",
    "mixed-correlated",
    "components",
    "ensembling-momentum",
    "architectures",
    "cost",
    "memory",
    "generalization",
    "stream-length",
    "bias",
    "diversity",
    "forgetting",
)
"""In the order of the paper."""

OWN = ("beyond", "beyond-ablation", "priors", "harm")
"""Experiments that are not the paper's."""


EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment",
    {
        name: f"trimtab.reproduce.experiments.{name.replace('-', '_')}:EXPERIMENT"
        for name in (*NAMES, *OWN)
    },
    spellings=("claims",),
)


def load(name: str) -> Experiment:
    """An experiment by its name."""
    experiment = EXPERIMENTS.find(name)
    if not isinstance(experiment, Experiment):
        raise ValueError(f"{name} must be an Experiment, got {experiment!r}")
    return experiment
