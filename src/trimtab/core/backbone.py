"""The frozen source model, which any number of streams call with parameters of their own."""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from trimtab.augment.normalization import Normalization, normalization_of
from trimtab.core import layout, norm, outputs, rows
from trimtab.core.classifier import last_linear
from trimtab.core.fingerprint import Fingerprint, fingerprint_of
from trimtab.core.norm import SOURCE, NormPolicy
from trimtab.core.outputs import Output
from trimtab.core.prediction import Prediction
from trimtab.core.source_buffers import SourceBuffers
from trimtab.core.structured import Structured
from trimtab.core.task import Task, task_of
from trimtab.core.tied import call_of
from trimtab.core.unwrapping import Watcher, second_tree, unwrapped

Tensors = dict[str, Tensor]
ParameterFilter = Callable[[nn.Module, str], bool]


@runtime_checkable
class PositionFilter(Protocol):
    """Picks parameters by where their layer stands in the whole network."""

    def within(self, model: nn.Module) -> ParameterFilter:
        """The filter for one network."""


def in_norm_layers(layer: nn.Module, parameter: str) -> bool:
    """Scale and shift of normalisation layers: what most methods train."""
    return norm.is_norm_layer(layer)


def weights_and_biases(layer: nn.Module, parameter: str) -> bool:
    """Parameters that their layer calls ``weight`` or ``bias``.

    What the public code of CoTTA, RMT, AdaContrast and MEMO trains as "all parameters". It leaves
    out a transformer's class token, position embedding and joint attention projection
    (``in_proj_weight``), relative position tables, layer scales, and weight norm's two parts.
    """
    return parameter in ("weight", "bias")


def everywhere(layer: nn.Module, parameter: str) -> bool:
    """Every parameter of the network."""
    return True


class Backbone:
    """A classifier whose own weights stay the source weights for ever.

    Works on a second tree of modules over the same tensors, so the model that was handed in is
    never changed; its values are shared, not copied, so it must not be trained in place while
    streams run. A model in ``torch.compile``, DDP or DataParallel is used without these.

    Args:
        model: Maps a batch of inputs to logits of shape (batch, classes).
        num_classes: Checked against the logits; found from the first batch when not given.
        classifier: Name of the module whose input are the features; by default the last linear
            layer to run.
        normalization: How inputs come to be what the model takes: ``(mean, std)``, a name such as
            ``"imagenet"``, or ``"model"`` for what the model's own configuration says.
            Augmentations then see pixels in [0, 1]. None: inputs lie in [0, 1].
        output: Where logits are in what the model returns: a name, a place, a function, or
            ``"probabilities"`` to take the logarithm of those. None finds them.
        task: ``"segmentation"`` where logits are (batch, classes, height, width).
    """

    untrainable = ""  # why nothing here can be trained, in words

    def __init__(
        self,
        model: nn.Module,
        num_classes: int | None = None,
        classifier: str | None = None,
        *,
        normalization: Any = None,
        output: Output = None,
        task: str | Task | None = None,
    ) -> None:
        original = unwrapped(model)
        self.normalization: Normalization | None = normalization_of(normalization, original)
        self.output = output
        self.task: Task = task_of(task)
        self.model: nn.Module = second_tree(original)
        self.reached: set[frozenset[str]] = set()
        """Sets of parameters that gradients are known to reach."""
        self._batch_norms = norm.install(self.model)
        self._buffers = SourceBuffers(self.model, besides=self._batch_norms)
        self._row_layers = rows.install(self.model.named_modules())
        self.lock = threading.RLock()  # held while a pass puts parameters into the modules
        self._modules = dict(self.model.named_modules())
        self._features: list[Tensor] = []
        self._taken: dict[torch.Size, bool] = {}
        self._classifier: str | None = None
        self._hook: torch.utils.hooks.RemovableHandle | None = None
        self._channels_last: bool | None = None  # None until the first sample has decided
        self.num_classes = num_classes
        self.shared: dict[object, Any] = {}  # what passes of several streams have in common
        self.probed: dict[object, Prediction] = {}  # by the shape or form of a blank sample
        self._sources: Tensors = {}  # one for all streams, of which there may be thousands
        if classifier is not None:
            self._watch(classifier)

    def __repr__(self) -> str:
        classes = f"{self.num_classes or 'unknown'} classes"
        size = sum(parameter.numel() for parameter in self.model.parameters())
        return f"<Backbone: {type(self.model).__name__}, {size:,} parameters, {classes}>"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "a Backbone can be neither pickled nor copied: streams share it; send the model and "
            "make trimtab.Backbone(model) there"
        )

    @property
    def has_batch_norm(self) -> bool:
        """Whether some norm layer of the network uses statistics of batches."""
        return bool(self._batch_norms)

    @cached_property
    def prefers_single_samples(self) -> bool:
        return layout.prefers_single_samples(self.model)

    @cached_property
    def statistics(self) -> Tensors:
        """Stored means and variances of the batch norms, by their full name."""
        return {
            f"{path}.{name}".lstrip("."): layer._buffers[name]
            for path, layer in self._modules.items()
            if layer in self._batch_norms
            for name in ("running_mean", "running_var")
            if layer._buffers.get(name) is not None
        }

    @property
    def classifier(self) -> nn.Module | None:
        """The module whose input are the features, once the first batch has shown it."""
        return None if self._classifier is None else self._modules[self._classifier]

    @cached_property
    def dtype(self) -> torch.dtype:
        """The floating type of the weights, which inputs must have too."""
        floats = (p.dtype for p in self.model.parameters() if p.is_floating_point())
        return next(floats, torch.get_default_dtype())

    @cached_property
    def device(self) -> torch.device:
        tensors = [*self.model.parameters(), *self.model.buffers()]
        return tensors[0].device if tensors else torch.device("cpu")

    def parameters(self, chosen: ParameterFilter | PositionFilter) -> Tensors:
        """Source values that ``chosen`` picks, by their full name; tied ones by the first alone."""
        if isinstance(chosen, PositionFilter):
            chosen = chosen.within(self.model)
        names: dict[int, str] = {}
        for path, layer in self._modules.items():
            for name, parameter in layer.named_parameters(recurse=False):
                if parameter.is_floating_point() and chosen(layer, name):
                    names.setdefault(id(parameter), f"{path}.{name}".lstrip("."))
        return {name: self.source_of(name) for name in names.values()}

    def __call__(
        self,
        inputs: Tensor,
        params: Tensors | None = None,
        statistics: Tensors | None = None,
        policy: NormPolicy = SOURCE,
        *,
        call: Callable[..., Any] | None = None,
    ) -> Prediction:
        """Predict under one stream's parameters and statistics.

        Where the policy keeps ``statistics``, these change in place. ``call`` is a faster way.
        """
        if policy.keep_weight and statistics is None:
            raise ValueError("a policy that keeps statistics needs statistics to keep them in")
        own = {**(params or {}), **(statistics or {})}
        with self.lock:
            for layer in self._batch_norms:
                layer.policy = policy
            try:
                return self._run(inputs, own, call)
            finally:
                for layer in self._batch_norms:
                    layer.policy = SOURCE

    def jointly(self, inputs: Tensor, stacked: Tensors, streams: rows.Rows) -> Prediction:
        """Predict samples of several streams, each under its own parameters and statistics.

        Args:
            stacked: The streams' parameters, by names that are in ``row_names``: a row for each.
            streams: Whose the samples are. What its policies keep changes its statistics in place.
        """
        with self.lock:
            for layer in self._row_layers:
                layer.rows = streams
            try:
                return self._run(inputs, stacked)
            finally:
                for layer in self._row_layers:
                    layer.rows = None

    def _run(
        self, inputs: Tensor, own: Tensors, call: Callable[..., Any] | None = None
    ) -> Prediction:
        arguments: tuple[tuple[Tensor, ...], Tensors] = (inputs,), {}
        if isinstance(inputs, Structured):
            arguments = inputs.arguments()
        elif self._channels_last:
            arguments = (layout.channels_last(inputs),), {}
        try:
            with self._buffers.kept():
                output = (call or self._call)(self.model, own, *arguments)
            features = self._features[-1] if self._features else None
        finally:
            self._features.clear()
        logits = outputs.logits_of(output, self.output)
        return Prediction(logits, None if features is None else features.flatten(1))

    @cached_property
    def _call(self) -> Callable[..., Any]:
        return call_of(self.model)

    @cached_property
    def row_names(self) -> frozenset[str]:
        """Parameters of which each stream can have a row of its own, by their full name."""
        return frozenset(
            layer.full_name(name)
            for layer in self._row_layers
            for name, _ in layer.named_parameters(recurse=False)
        )

    def source_of(self, name: str) -> Tensor:
        """The source value of a parameter, by its full name."""
        if name not in self._sources:
            self._sources[name] = self.model.get_parameter(name).detach()
        return self._sources[name]

    def probe(self, inputs: Tensor) -> Prediction:
        """Predict one sample to learn the number of classes and where the classifier is."""
        if self._channels_last is None:
            self._choose_layout(inputs[:1])
        if self._classifier is None and not self.task.is_dense:
            found = last_linear(self._modules, lambda: self.takes(inputs[:1]))
            if found is not None:
                self._watch(found)
        with torch.no_grad():
            prediction = self(inputs[:1])
            noise, dense = outputs.noise_like(inputs[:1]), self.task.is_dense
            asked = prediction.logits, lambda: self(noise).logits, self.model, self.output
            outputs.check(*asked, dense=dense)
        classes = prediction.logits.shape[1]
        if self.num_classes not in (None, classes):
            raise ValueError(f"num_classes is {self.num_classes}, but the model has {classes}")
        self.num_classes = classes
        return prediction

    def _choose_layout(self, inputs: Tensor) -> None:
        """Channels last where that is faster and the network lets it be."""
        self._channels_last = layout.prefers_channels_last(self.model, self.device)
        if self._channels_last and not self.takes(inputs):
            self._channels_last = False  # it flattens with view(), say
            if not self.takes(inputs):
                self._channels_last = None  # a sample of a wrong shape says nothing about layouts

    def takes(self, inputs: Tensor) -> bool:
        """Whether the network predicts inputs of this shape."""
        try:
            with torch.no_grad():
                self(inputs)
            return True
        except (RuntimeError, ValueError, IndexError, TypeError):
            return False

    def takes_shape(self, inputs: Tensor) -> bool:
        """The same, asked once for each shape."""
        if inputs.shape not in self._taken:
            self._taken[inputs.shape] = self.takes(inputs)
        return self._taken[inputs.shape]

    def _watch(self, classifier: str) -> None:
        if classifier not in self._modules:
            known = ", ".join(path for path in self._modules if path)
            raise ValueError(f"no module is called {classifier!r}; the model has: {known}")
        self._classifier = classifier
        watched = self._modules[classifier]
        self._hook = watched.register_forward_pre_hook(Watcher(self._features))

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Identifies the source model in saved states."""
        return fingerprint_of(self.model)
