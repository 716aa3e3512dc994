"""Gradient accumulation over small batches: samples that wait for an update (windows)."""

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from trimtab.core.backbone import Tensors
from trimtab.core.buffer import Buffer
from trimtab.core.prediction import Prediction, joined
from trimtab.core.ranges import check_whole
from trimtab.core.structured import Form, Structured, joined_inputs

WAITING = "waiting_inputs"


@dataclass
class Window:
    """The last ``size`` predictions of a stream, and the samples since its last update.

    With no size nothing is remembered from one batch to the next.

    Args:
        buffer: Holds all that waits side by side; None where it lies apart, or nothing waits.
    """

    size: int | None
    recent: Prediction | None = None
    inputs: list[Tensor] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)
    buffer: Buffer | None = None

    def __post_init__(self) -> None:
        check_whole("window", self.size, "sample")

    @property
    def room(self) -> int | None:
        """How many more samples fill the window; None where there is no end."""
        return None if self.size is None else self.size - self._samples

    @property
    def is_full(self) -> bool:
        """Whether it is time for an update."""
        return self.room is not None and self.room <= 0

    @property
    def largest(self) -> int:
        """The largest batch among those that wait."""
        return max(len(part) for part in self.inputs)

    def with_recent(self, prediction: Prediction) -> Prediction:
        """The predictions of the window once this one has arrived."""
        if self.size is None or self.recent is None:
            return prediction
        both = joined([self.recent, prediction])
        return both.rows(slice(-max(self.size, len(prediction.logits)), None))

    def see(self, recent: Prediction) -> None:
        """Remember the last of these predictions."""
        if self.size is not None:
            self.recent = recent.rows(slice(-self.size, None))

    def copy(self) -> "Window":
        """A window that goes on by itself; what waits is never written into, so it is shared."""
        waiting = list(self.inputs), list(self.predictions)
        return Window(self.size, self.recent, *waiting, self.buffer)

    def collect(self, inputs: Tensor, prediction: Prediction) -> None:
        """Let samples wait for the next update."""
        if not self.inputs and self.size is not None and not isinstance(inputs, Structured):
            self.buffer = Buffer(inputs, self.size)
        put = None if self.buffer is None else self.buffer.put(self._samples, inputs)
        if put is None:
            self.buffer = None
            put = inputs.clone()  # a caller may reuse its buffer for the next frame
        self.inputs.append(put)
        self.predictions.append(prediction)

    def release(self) -> tuple[Tensor, Prediction]:
        """All that waits, which then waits no longer."""
        prediction, buffer = joined(self.predictions), self.buffer
        whole = buffer is not None and len(buffer.values) == self._samples
        inputs = buffer.values if buffer is not None and whole else joined_inputs(self.inputs)
        self.inputs, self.predictions, self.buffer = [], [], None
        return inputs, prediction

    def state(self) -> Tensors:
        """Everything as tensors."""
        state: Tensors = {}
        for name, prediction in (("recent", self.recent), ("waiting", self._waiting())):
            if prediction is not None:
                state[f"{name}_logits"] = prediction.logits
            if prediction is not None and prediction.features is not None:
                state[f"{name}_features"] = prediction.features
        if self.inputs:
            state |= _as_tensors(joined_inputs(self.inputs))
            state["waiting_sizes"] = torch.tensor([len(part) for part in self.inputs])
        return state

    def load(
        self, state: Tensors, sample_shape: tuple[int, ...] | None, form: Form | None = None
    ) -> None:
        """Become what ``state`` says; refuse what no window of this size could hold."""
        state = _with_inputs(state, form)
        self._check(state, sample_shape)
        self.recent = _prediction(state, "recent")
        self.inputs, self.predictions, self.buffer = [], [], None
        waiting = _prediction(state, "waiting")
        if waiting is not None:
            sizes = state["waiting_sizes"].tolist()
            self.inputs = list(state["waiting_inputs"].split(sizes))
            stops = torch.tensor(sizes).cumsum(0).tolist()
            self.predictions = [
                waiting.rows(slice(stop - size, stop))
                for size, stop in zip(sizes, stops, strict=True)
            ]

    def _check(self, state: Tensors, sample_shape: tuple[int, ...] | None) -> None:
        parts = {"recent": {"logits", "features"}}
        parts["waiting"] = parts["recent"] | {"inputs", "sizes"}
        known = {f"{part}_{name}" for part, names in parts.items() for name in names}
        _expect(state.keys() <= known, f"must have parts {sorted(known)}", sorted(state))
        most = {"recent": self.size or 0, "waiting": (self.size or 1) - 1}
        for part, names in parts.items():
            found = {name: state[f"{part}_{name}"] for name in names if f"{part}_{name}" in state}
            needed = names - {"features"} if found else set()
            _expect(found.keys() >= needed, f"must have {part} {sorted(needed)}", sorted(found))
            sizes = found.pop("sizes", None)
            rows = {name: tuple(tensor.shape[:1]) for name, tensor in found.items()}
            _expect(len(set(rows.values())) <= 1, f"must have as many rows of {part}", rows)
            held = len(found["logits"]) if found else 0
            _expect(held <= most[part], f"of size {self.size} holds {most[part]} {part}", held)
            if sizes is not None:
                whole = sizes.dtype == torch.long and sizes.dim() == 1 and bool((sizes > 0).all())
                _expect(whole and int(sizes.sum()) == held, "must hold its batches", sizes)
                shape = tuple(found["inputs"].shape[1:])
                _expect(shape == sample_shape, f"must hold samples of shape {sample_shape}", shape)

    @property
    def _samples(self) -> int:
        """How many wait."""
        return sum(len(part) for part in self.inputs)

    def _waiting(self) -> Prediction | None:
        return joined(self.predictions) if self.predictions else None


def _as_tensors(inputs: Tensor) -> Tensors:
    """Inputs by names of a state; those of structured inputs are numbered."""
    if not isinstance(inputs, Structured):
        return {WAITING: inputs}
    return {f"{WAITING}.{place}": tensor for place, tensor in enumerate(inputs.tensors)}


def _with_inputs(state: Tensors, form: Form | None) -> Tensors:
    """A state whose numbered inputs are one structured batch again."""
    if form is None or f"{WAITING}.0" not in state:
        return state
    named = [f"{WAITING}.{place}" for place in range(len(form.names))]
    _expect(all(name in state for name in named), f"must have {named}", sorted(state))
    inputs: Any = Structured(form.names, tuple(state[name] for name in named))
    fits = inputs.form == form and len({len(tensor) for tensor in inputs.tensors}) == 1
    _expect(fits, f"must hold samples of {form}", inputs.form)
    rest = {name: tensor for name, tensor in state.items() if name not in named}
    return rest | {WAITING: inputs}


def _prediction(state: Tensors, name: str) -> Prediction | None:
    if f"{name}_logits" not in state:
        return None
    return Prediction(state[f"{name}_logits"], state.get(f"{name}_features"))


def _expect(holds: bool, what: str, got: object) -> None:
    if not holds:
        raise ValueError(f"this state does not fit: a window {what}, got {got}")
