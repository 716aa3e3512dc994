"""Short names of runs for readers: ``EATA``, ``mixed, correlated (0.1)``. Nothing here needs torch.

Specs keep the words that a user types; these are what tables, plots and logs show instead.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from trimtab.bench.spec import RunSpec
from trimtab.core.spec import terms

TITLES = {
    "adacontrast": "AdaContrast",
    "asr": "ASR",
    "bn1": "BN-1",
    "bn_alpha": "BN-alpha",
    "bn_ema": "BN-EMA",
    "cmf": "CMF",
    "come": "COME",
    "cotta": "CoTTA",
    "deyo": "DeYO",
    "eata": "EATA",
    "eta": "ETA",
    "foa": "FOA",
    "lame": "LAME",
    "memo": "MEMO",
    "neo": "NEO",
    "pea": "PEA",
    "rdumb": "RDumb",
    "reservoir": "ReservoirTTA",
    "rmemsafe": "RMemSafe",
    "rmt": "RMT",
    "roid": "ROID",
    "rotta": "RoTTA",
    "rpl": "RPL",
    "santa": "SANTA",
    "sar": "SAR",
    "source": "Source",
    "spa": "SPA",
    "t3a": "T3A",
    "tent": "TENT",
    "trimtab": "Trimtab",
    "zerosiam": "ZeroSiam",
}
"""Methods as their papers write them: the titles of their cards, which only torch could read."""

Identity = str
"""A method with its options, as text: two are the same method in a table if this is equal."""


def counted(number: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def identity(spec: RunSpec) -> Identity:
    """What makes two runs those of one method."""
    return json.dumps([spec.method, dict(spec.options)], sort_keys=True)


def method_title(method: str) -> str:
    """A method's words with its paper's spelling: ``roid + laplacian`` is ``ROID + laplacian``."""
    first, plus, rest = method.partition("+")
    name, bracket, options = first.strip().partition("(")
    title = TITLES.get(name, name.rpartition(":")[2] or name)
    return f"{title}{bracket}{options}" + (f" + {rest.strip()}" if plus else "")


def short_labels(specs: Iterable[RunSpec]) -> dict[Identity, str]:
    """A label for each method of these runs: options are named only where two differ in them."""
    kinds = {identity(spec): spec for spec in specs}
    groups: dict[str, list[RunSpec]] = {}
    for spec in kinds.values():
        groups.setdefault(spec.method, []).append(spec)
    differing = {
        method: {name for name in _names(group) if _values(group, name) > 1}
        for method, group in groups.items()
    }
    found = {key: _label(spec, differing[spec.method]) for key, spec in kinds.items()}
    taken = list(found.values())  # two modules may have a callable of one name
    return {
        key: kinds[key].label if taken.count(label) > 1 else label for key, label in found.items()
    }


def _names(specs: Iterable[RunSpec]) -> set[str]:
    return {name for spec in specs for name in spec.options}


def _values(specs: Iterable[RunSpec], name: str) -> int:
    """How many different values an option has, its absence being one."""
    given = (dict(spec.options) for spec in specs)
    return len({json.dumps([options.get(name), name in options]) for options in given})


def _label(spec: RunSpec, shown: set[str]) -> str:
    options = {name: value for name, value in sorted(spec.options.items()) if name in shown}
    title = method_title(spec.method)
    return f"{title} ({_settings(options)})" if options else title


def scenario_title(words: str) -> str:
    """A scenario for readers: ``mixed_correlated(delta=0.1)`` is ``mixed, correlated (0.1)``."""
    try:
        [term] = terms(words)
    except ValueError:
        return words  # not ours to judge: results of other versions may have other words
    name = term.name.rpartition(":")[2].replace("mixed_correlated", "mixed, correlated")
    settings = _settings(term.arguments, bare=("delta",))
    return name.replace("_", " ") + (f" ({settings})" if settings else "")


def _settings(options: Mapping[str, Any], bare: tuple[str, ...] = ()) -> str:
    return ", ".join(
        str(value) if name in bare else f"{name}={value}" for name, value in options.items()
    )
