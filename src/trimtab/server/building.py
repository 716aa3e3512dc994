"""From options to a served model: network, fleet, store and settings."""

import logging
from collections.abc import Callable
from dataclasses import fields

import torch

from trimtab import models
from trimtab.core.ranges import check_whole
from trimtab.core.spec import assignment
from trimtab.fleets.api import fleet
from trimtab.server.journal import Journal
from trimtab.server.limits import Limits
from trimtab.server.options import Options
from trimtab.server.service import Service
from trimtab.server.settings import Settings
from trimtab.server.store import Store
from trimtab.server.streams import Saving
from trimtab.server.tokens import Tokens

log = logging.getLogger("trimtab.server")


def make_service(options: Options, *, may_write: Callable[[], bool] = lambda: True) -> Service:
    """All that is needed to answer requests.

    Args:
        options: As ``trimtab.server.options`` describes them.
        may_write: Asked before each checkpoint; False once another process has taken over.
    """
    check_whole("threads", options["threads"], "thread")
    torch.set_num_threads(options["threads"])
    backbone = models.load(options["model"], weights=options["weights"])
    shape = sample_shape(options)
    logits = backbone.probe(torch.zeros(1, *shape, dtype=backbone.dtype)).logits
    streams = fleet(
        backbone,
        options["method"],
        seed=options["seed"],
        window=options["window"] or None,
        guard=options["guard"],
        **dict(assignment(text) for text in options["option"]),
    )
    journal = None if options["journal"] is None else Journal(options["journal"])
    store = _store(options, journal, may_write)
    settings = Settings(
        model=options["name"] or options["model"].replace("/", "-").replace(":", "-"),
        method=options["method"],
        sample_shape=shape,
        num_classes=logits.shape[1],
        anonymous=options["anonymous"],
        max_batch=options["max_batch"],
        max_delay_seconds=options["max_delay_ms"] / 1000,
        limits=Limits(**{field.name: options[field.name] for field in fields(Limits)}),
        saving=Saving(options["save_samples"], options["save_seconds"]),
        tokens=Tokens.read(options["tokens"]) if options["tokens"] else Tokens(),
    )
    return Service(streams, settings, store, journal)


def _store(
    options: Options, journal: Journal | None, may_write: Callable[[], bool]
) -> Store | None:
    """Checkpoints, each written after the rounds that it comes from are in the journal."""

    def settled() -> bool:
        if journal is not None:
            journal.settle()
        return may_write()

    return None if options["store"] is None else Store(options["store"], may_write=settled)


def sample_shape(options: Options) -> tuple[int, ...]:
    """Shape of one sample: as stated, or as the table of networks has it."""
    if options["input_shape"]:
        try:
            sizes = tuple(int(size) for size in options["input_shape"].split(","))
        except ValueError:
            sizes = ()
        if not sizes or min(sizes) < 1:
            raise ValueError(f"--input-shape reads 3,32,32, got {options['input_shape']!r}")
        return sizes
    size = models.describe(options["model"]).preprocessing.input_size
    if size is None:
        raise ValueError(
            f"the table does not say how large images of {options['model']} are; "
            "give --input-shape 3,224,224 or whatever it is"
        )
    return (3, size, size)
