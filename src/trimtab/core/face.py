"""What Python and torch expect of an object: a repr, a module, a copy to export, no pickle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from trimtab.core import export, inputs
from trimtab.core.backbone import Backbone
from trimtab.core.module import StreamModule
from trimtab.core.state import StateView
from trimtab.core.structured import Given

if TYPE_CHECKING:
    from trimtab.core.method import Method


class Face(StateView):
    """The everyday side of an adapter; none of it changes the stream."""

    backbone: Backbone
    method: Method

    def __repr__(self) -> str:
        done, model = self.state.counters, type(self.backbone.model).__name__
        return (
            f"<{type(self).__name__}: {self.method.name or 'a method'} on {model}, "
            f"{done.samples:,} samples seen, {done.updates:,} updates>"
        )

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "an Adapter cannot be pickled: save its stream by adapter.save(path), and go on "
            "elsewhere by trimtab.adapt(model, method) and adapter.load(path)"
        )

    def as_module(self, *, learn: bool = True) -> StreamModule:
        """This stream as a ``torch.nn.Module`` for pipelines, which learns unless told not to."""
        return StreamModule(self, learn)  # type: ignore[arg-type]

    def export(self, batch: Given | None = None) -> nn.Module:
        """The adapted network as a plain module: the stream's weights and statistics.

        It leaves out the output rules and learns no further, which a warning says.

        Args:
            batch: Inputs whose statistics its batch norms are to have, for methods that normalise
                each batch by its own and keep none.
        """
        backbone, method, state = self.backbone, self.method, self.state
        with torch.inference_mode(False):
            admitted = None if batch is None else inputs.admitted(batch, backbone, method, state)
            return export.export(backbone, method, state, admitted)
