"""All that changes along one stream, as data: it can be copied, compared, saved and put back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.counters import Counters
from trimtab.core.pace import Pace
from trimtab.core.plausible import Shown
from trimtab.core.structured import Form
from trimtab.core.window import Window

Memory = dict[str, Tensors]
"""Each component's tensors, by the component's name."""


@dataclass
class StreamState:
    """Everything that decides the future of a stream.

    Steps replace ``params``, ``statistics`` and ``moments`` by new tensors and never write into
    them, so a draft shares these; components do write into their memory, so a draft copies that.

    Args:
        params: The trained parameters, by their full name in the model.
        statistics: Stored means and variances of batch norms, by their full name.
        generator: Decides all that is random from here on.
        shown: The range of values that the stream has shown.
        sample_shape: Shape of the first input, by which settings were chosen; None until the first
            batch has come. Later ones may be of other sizes where the network takes them.
        form: What a sample looks like where it is not one plain tensor of floats.
        followed_samples: Samples in small batches, whose statistics batch norms have followed.
        moments: What the optimiser remembers of each trained tensor, by its place.
        learned_through: Number of the last request that a server's stream has learned from; None
            where requests have no numbers. It goes with the state, so that a request that is sent
            again after a crash is learned from once.
        guard: What a guard remembers of the stream, never written into; nothing without one.
        blessed: The last state that a guard found well, to go back to; never stepped with itself.
    """

    seed: int
    params: Tensors
    statistics: Tensors
    generator: torch.Generator
    window: Window
    pace: Pace
    shown: Shown = field(default_factory=Shown)
    counters: Counters = field(default_factory=Counters)
    sample_shape: tuple[int, ...] | None = None
    form: Form | None = None
    followed_samples: int = 0
    memory: Memory = field(default_factory=dict)
    moments: Mapping[int, Tensors] = field(default_factory=dict)
    learned_through: int | None = None
    guard: Tensors = field(default_factory=dict)
    blessed: StreamState | None = None

    def places(self) -> list[tuple[Tensors, str, Tensor]]:
        """Where the trained tensors are: the stream's parameters, then what components train."""
        return [
            (tensors, name, tensor)
            for tensors in (self.params, *self.memory.values())
            for name, tensor in tensors.items()
            if tensor.requires_grad
        ]

    @property
    def trains_parameters_alone(self) -> bool:
        """Whether components train nothing of their own."""
        return not any(t.requires_grad for own in self.memory.values() for t in own.values())

    def trained(self) -> list[Tensor]:
        """The stream's parameters and whatever its components train beside them."""
        return [tensor for _, _, tensor in self.places()]

    @torch.no_grad()
    def draft(self) -> StreamState:
        """A copy to step with, while this one stays as it is."""
        return replace(
            self,
            params=self.params.copy(),
            statistics=dict(self.statistics),
            generator=twin_of(self.generator),
            window=self.window.copy(),
            pace=replace(self.pace),
            counters=replace(self.counters),
            memory={name: copied(memory) for name, memory in self.memory.items()},
        )

    @torch.no_grad()
    def clone(self) -> StreamState:
        """A copy that shares no tensor with this one, ready to be trained."""
        return replace(
            self.draft(),
            params={name: p.detach().clone().requires_grad_() for name, p in self.params.items()},
            statistics=copied(self.statistics),
            moments={place: copied(moments) for place, moments in self.moments.items()},
        )

    def forget_gradients(self) -> None:
        """Leave no gradient behind."""
        for tensors in (self.params, *self.memory.values()):
            for tensor in tensors.values():
                if tensor.requires_grad and tensor.grad is not None:
                    tensor.grad = None


class StateView:
    """Shows the parts of ``state``, which each call replaces by a new one."""

    state: StreamState

    @property
    def seed(self) -> int:
        return self.state.seed

    @property
    def sample_shape(self) -> tuple[int, ...] | None:
        return self.state.sample_shape

    @property
    def params(self) -> Tensors:
        return self.state.params

    @property
    def statistics(self) -> Tensors:
        return self.state.statistics

    @property
    def memory(self) -> Memory:
        return self.state.memory

    @property
    def generator(self) -> torch.Generator:
        return self.state.generator

    @property
    def window(self) -> Window:
        return self.state.window

    @property
    def pace(self) -> Pace:
        return self.state.pace

    @property
    def counters(self) -> Counters:
        return self.state.counters


def copied(tensors: Tensors) -> Tensors:
    """Copies that are trained where the originals are."""
    return {
        name: tensor.detach().clone().requires_grad_(tensor.requires_grad)
        if tensor.requires_grad
        else tensor.clone()
        for name, tensor in tensors.items()
    }


def laid_like(saved: Tensor, like: Tensor) -> Tensor:
    """A copy that lies in memory as ``like`` does, which decides last bits of what follows."""
    if saved.shape != like.shape:  # rows that come and go
        return saved.to(like.device, copy=True)
    return torch.empty_like(like, requires_grad=False).copy_(saved)


def twin_of(generator: torch.Generator) -> torch.Generator:
    """A generator that goes on as this one would."""
    twin = torch.Generator()
    twin.set_state(generator.get_state())
    return twin
