"""Errors of an output rule, such as a temporal prior, on simulated logits with known truth."""

import hashlib
import importlib.util
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from trimtab.core.backbone import Backbone
from trimtab.core.component import OutputRule, Start, Step
from trimtab.core.prediction import Prediction
from trimtab.methods import COMPONENTS
from trimtab.reproduce.simulation.classifier import BY_DOMAIN, Classifier, simulated
from trimtab.reproduce.simulation.inputs import SHAPE, domains_along, inputs_of
from trimtab.reproduce.simulation.orders import ORDERS


def measure(
    *,
    rule: str,
    code: str,
    classes: int,
    accuracy: float,
    favourites: str,
    confidence: float,
    orders: Sequence[str],
    samples: int,
    batch_size: int,
    seed: int,
) -> dict[str, Any]:
    """Errors in % by order: ``raw`` and ``corrected``; share of batches ``changed``, in %.

    ``later_raw`` and ``later_corrected`` are the errors of the second half alone.

    Args:
        rule: An output rule by name, at its defaults.
        code: Of which version; see ``code_of``.
        classes: Of the simulated model.
        accuracy: Share of its predictions that would be right without bias.
        favourites: Its bias; one of ``FAVOURITES``.
        confidence: 1 is calibrated; 2 halves the temperature.
        orders: Names of ``ORDERS``, a stream each.
        samples: Length of a stream.
        batch_size: In which samples come.
        seed: Of the model, of classes and of noise.
    """
    if code != code_of(rule):
        raise ValueError(f"{rule} is no longer the version {code}, but {code_of(rule)}")
    model = simulated(classes, accuracy, favourites, np.random.default_rng(seed))
    model = model.more_confident(confidence)
    domains = domains_along(samples, batch_size)
    if favourites != BY_DOMAIN:
        domains = np.zeros_like(domains)
    return {
        order: _follow(rule, model, order, domains, batch_size, np.random.default_rng(numbers))
        for order in orders
        for numbers in [(seed, zlib.crc32(order.encode()))]
    }


def forwards(
    *, classes: int, orders: Sequence[str], samples: int, batch_size: int, **_: Any
) -> int:
    """Plain passes of a small network that take about as long: a batch costs, and each class."""
    batches = -(-samples // batch_size)
    return round(len(orders) * (0.85 * batches + samples * (0.05 + classes / 3500)))


def code_of(rule: str) -> str:
    """Eight digits that change with the rule's source, so that no old errors pass for new ones."""
    found = importlib.util.find_spec(f"trimtab.components.{rule}")
    if found is None or found.origin is None:
        raise ValueError(f"expected a component with a module of its own name, got {rule!r}")
    path = Path(found.origin)
    files = sorted(path.parent.glob("*.py")) if found.submodule_search_locations else [path]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]


def _follow(
    name: str,
    model: Classifier,
    order: str,
    domains: np.ndarray[Any, Any],
    batch_size: int,
    rng: np.random.Generator,
) -> dict[str, float]:
    """One stream, from its first batch to its last one."""
    classes = model.bias.shape[1]
    labels = ORDERS[order](len(domains), classes, rng)
    inputs = inputs_of(labels, domains, classes, rng).split(batch_size)
    logits = torch.from_numpy(model.logits(labels, domains, rng)).split(batch_size)
    rule = COMPONENTS[name]()
    assert isinstance(rule, OutputRule)
    memory = rule.new_memory(_start(classes))
    corrected = [
        rule.correct(raw, _step(shown, raw), memory)
        for shown, raw in zip(inputs, logits, strict=True)
    ]
    changed = [not torch.equal(*pair) for pair in zip(logits, corrected, strict=True)]
    wrong = {
        kind: (torch.cat(outputs).argmax(1) != torch.from_numpy(labels)).double()
        for kind, outputs in (("raw", logits), ("corrected", corrected))
    }
    half = len(labels) // 2
    return {
        **{kind: 100 * float(found.mean()) for kind, found in wrong.items()},
        **{f"later_{kind}": 100 * float(found[half:].mean()) for kind, found in wrong.items()},
        "changed": 100 * sum(changed) / len(changed),
    }


def _start(classes: int) -> Start:
    return Start(
        backbone=Backbone(nn.Identity()),
        source={},
        num_classes=classes,
        num_features=None,
        sample_shape=SHAPE,
        device=torch.device("cpu"),
        forward=_no_network,
        generator=torch.Generator(),
    )


def _step(inputs: Tensor, logits: Tensor) -> Step:
    prediction = Prediction(logits, None)
    return Step(inputs, prediction, _no_network, torch.Generator(), recent=prediction)


def _no_network(*_: object, **__: object) -> Prediction:
    raise NotImplementedError("logits are simulated: there is no network to pass")
