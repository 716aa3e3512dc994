"""Augmented views of the samples of an update: all at once, or as they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trimtab.core import component as roles
from trimtab.core.backbone import Tensors

if TYPE_CHECKING:
    from trimtab.core.attempt import Attempt


@torch.no_grad()
def views_of(attempt: Attempt, inputs: Tensor) -> Tensors:
    """Altered copies of the inputs, by objective; objectives that share a view share its tensor."""
    views: Tensors = {}
    shared: list[tuple[object, Tensor]] = []
    for objective in attempt.playing(roles.Objective):
        maker = objective.shared_view
        known = [view for other, view in shared if maker is not None and other == maker]
        view = known[0] if known else objective.views(inputs, attempt.state.generator)
        if view is not None:
            views[objective.name] = view
            shared.append((maker, view))
    return views


class PartialViews:
    """Views of the kept samples of an update, by micro-batches.

    Where every objective lets them be made part by part, only those of one micro-batch are held,
    and all parts are made with the draws of the first.
    """

    def __init__(self, attempt: Attempt, inputs: Tensor, kept: Tensor) -> None:
        self.attempt, self.inputs = attempt, inputs
        self._before: Tensor | None = None  # of the generator, from which all parts are drawn
        self._made: Tensors | None = None
        self._used = 0
        if not all(o.views_by_part for o in attempt.playing(roles.Objective)):
            self._made = views_of(attempt, inputs[kept])

    def of(self, used: Tensor) -> Tensors:
        """Those of the next kept samples, by objective."""
        if self._made is None:
            return self._drawn(self.inputs[used])
        first, self._used = self._used, self._used + len(used)
        # views that objectives share stay one tensor, so that they pass the network once
        shown = {id(view): view[first : self._used] for view in self._made.values()}
        return {name: shown[id(view)] for name, view in self._made.items()}

    def _drawn(self, inputs: Tensor) -> Tensors:
        generator = self.attempt.state.generator
        now = generator.get_state()
        if self._before is None:
            self._before = now
            return views_of(self.attempt, inputs)
        generator.set_state(self._before)
        views = views_of(self.attempt, inputs)
        generator.set_state(now)
        return views
