"""Every table and figure of the ROID paper (arXiv:2306.00650) as an experiment by name.

An experiment ``NAME`` is the module ``trimtab.reproduce.experiments.NAME`` (with ``_`` for ``-``)
and holds an ``EXPERIMENT``: what to run, and what to make of the results.
"""

import importlib

from trimtab.core.spec import unknown
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


def load(name: str) -> Experiment:
    """An experiment by its name."""
    if name not in (*NAMES, *OWN):
        raise ValueError(unknown("experiment", name, (*NAMES, *OWN, "claims")))
    module = importlib.import_module(f"trimtab.reproduce.experiments.{name.replace('-', '_')}")
    experiment: Experiment = module.EXPERIMENT
    return experiment
