"""Batch normalisation statistics: stored, of the batch, or mixed (BN adaptation)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from trimtab.core import rows, stream_norms
from trimtab.core.moments import moments, moments_around_median, towards
from trimtab.core.ranges import check_shares


@dataclass(frozen=True)
class NormPolicy:
    """Normalise with ``stored + batch_weight * (batch - stored)`` statistics.

    Args:
        batch_weight: 0 uses the stored statistics alone, 1 those of the batch alone.
        keep_weight: How far the stored statistics move towards the batch's at each pass.
        unbiased: Whether a blended or stored batch variance divides by n - 1. With
            ``batch_weight=1`` the batch itself is always normalised by its biased variance.
        mixture: Whether blending counts the distance between both means as variance, as the
            variance of a mixture of two populations does.
        differentiable: Whether gradients flow through the statistics of a blended batch.
        median: Whether a batch's mean is the median over samples and places, and its variance the
            mean square around that: a minority of odd samples hardly moves it.
        early_share: How much of ``batch_weight`` holds for the first half of a network's batch
            norms, whose statistics tell of the domain.
        late_share: How much of both weights holds for the later half, whose statistics tell of
            the classes too.
    """

    batch_weight: float
    keep_weight: float = 0.0
    unbiased: bool = False
    mixture: bool = False
    differentiable: bool = True
    late_share: float = 1.0
    median: bool = False
    early_share: float = 1.0

    def __post_init__(self) -> None:
        check_shares(self, "batch_weight", "keep_weight", "early_share", "late_share")

    @property
    def couples_samples(self) -> bool:
        """Whether one sample's output depends on the others in its batch."""
        return self.batch_weight > 0

    def weights(self, late: bool) -> tuple[float, float]:
        """How much of a batch's statistics a layer normalises with, and how much it keeps."""
        if late:
            return self.late_share * self.batch_weight, self.late_share * self.keep_weight
        return self.early_share * self.batch_weight, self.keep_weight

    # A batch may be more than the samples at hand (trimtab.distributed): only these know it.

    def has_variance(self, x: Tensor) -> bool:
        """Whether the batch has more than one value per channel."""
        return x.numel() > x.shape[1]

    def moments(self, x: Tensor, unbiased: bool) -> tuple[Tensor, Tensor]:
        """Mean and variance of each channel of the batch."""
        return moments_around_median(x, unbiased) if self.median else moments(x, unbiased)

    def by_batch(self, x: Tensor, eps: float) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """What a layer needs to normalise by the batch alone: its input and constant statistics.

        None leaves both to the layer, which then takes those of its input.
        """
        return x, None, None


SOURCE = NormPolicy(batch_weight=0.0)
BATCH = NormPolicy(batch_weight=1.0)


def blend(batch_weight: float, *, unbiased: bool = False) -> NormPolicy:
    """Mix stored and batch statistics, forgetting the batch afterwards."""
    return NormPolicy(batch_weight, unbiased=unbiased)


def running(batch_weight: float) -> NormPolicy:
    """Move the stored statistics towards each batch and normalise with the result."""
    return NormPolicy(batch_weight, keep_weight=batch_weight)


def tracking(window: int, samples: int) -> NormPolicy:
    """Follow the last ``window`` samples, exponentially weighted, when ``samples`` more arrive."""
    weight = 1 - (1 - 1 / window) ** samples
    return NormPolicy(weight, keep_weight=weight, mixture=True)


class _StreamBatchNorm(rows.RowLayer, _BatchNorm):
    """Mixed into a batch norm's own class, so that what subclasses add to it stays."""

    policy: NormPolicy = SOURCE
    late: bool = False

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  (torch's own name)
        return self._alone(input) if self.rows is None else self._jointly(input, self.rows)

    def _jointly(self, x: Tensor, streams: rows.Rows) -> Tensor:
        """Normalise each stream's samples by themselves: at once, or one after the other."""
        parts = rows.checked(x, streams).split(streams.sizes)
        if self._is_plain(x, streams):
            weights = [policy.weights(self.late) for policy in streams.policies]
            stored = (
                [self._stored(own, name) for own in streams.statistics]
                for name in ("running_mean", "running_var")
            )
            asked = stream_norms.Asked(parts, streams.policies, weights, *stored)  # type: ignore[arg-type]
            if asked.can_be_met:
                return asked.met(x, self.weight, self.bias, self.eps)
        own = [self.weight, self.bias]
        each = [
            p.unbind() if p is not None and p.dim() > 1 else [p] * len(streams.sizes) for p in own
        ]
        normalised = []
        for place, part in enumerate(parts):
            with self._of_stream(streams, place, each[0][place], each[1][place]):
                normalised.append(self._alone(part))
        return torch.cat(normalised)

    def _is_plain(self, x: Tensor, streams: rows.Rows) -> bool:
        """Whether torch's own batch norm on a CPU is all that this layer does."""
        return (
            type(self).__bases__[1].forward is _BatchNorm.forward  # type: ignore[attr-defined]
            and None not in (self.weight, self.bias, self.running_mean, self.running_var)
            and x.device.type == "cpu"
            and x.dtype == self.weight.dtype in (torch.float32, torch.float64)
            and all(type(policy) is NormPolicy for policy in streams.policies)
        )

    def _stored(self, own: dict[str, Tensor], name: str) -> Tensor | None:
        """A stream's statistic; the layer's, where it has none of its own."""
        return own.get(self.full_name(name), self._buffers[name])

    @contextmanager
    def _of_stream(
        self, streams: rows.Rows, place: int, weight: Tensor | None, bias: Tensor | None
    ) -> Iterator[None]:
        """Be the layer of one of the streams."""
        params, buffers = dict(self._parameters), dict(self._buffers)
        self._parameters |= {"weight": weight, "bias": bias}  # type: ignore[dict-item]
        for name in ("running_mean", "running_var"):
            self._buffers[name] = self._stored(streams.statistics[place], name)
        self.policy = streams.policies[place]
        try:
            yield
        finally:
            self._parameters |= params
            self._buffers |= buffers
            self.policy = SOURCE

    def _alone(self, input: Tensor) -> Tensor:  # noqa: A002
        if self.running_mean is None or self.running_var is None:
            # Nothing is stored, so the batch decides; of a single value only the shift is left.
            seen = self.policy.has_variance(input)
            return self._by_batch(input) if seen else self._shift_of(input)
        if self.policy == SOURCE or not self.policy.has_variance(input):
            return super().forward(input)  # a single value a channel says nothing about variance
        return self._obeying(input, self.running_mean, self.running_var)

    def _obeying(self, x: Tensor, stored_mean: Tensor, stored_var: Tensor) -> Tensor:
        policy = self.policy
        batch_weight, keep_weight = policy.weights(self.late)
        if batch_weight == 0:
            return super().forward(x)
        blended: tuple[Tensor, Tensor] | None = None
        if batch_weight == 1 and not policy.median:
            output = self._by_batch(x)
        else:
            learns = policy.differentiable and torch.is_grad_enabled()
            with torch.set_grad_enabled(learns):
                blended = _towards_batch(stored_mean, stored_var, x, policy, batch_weight)
            output = self._normalised_by(x, *blended) if learns else self._native_by(x, *blended)
        if keep_weight:
            with torch.no_grad():
                if blended is None or keep_weight != batch_weight:
                    blended = _towards_batch(stored_mean, stored_var, x, policy, keep_weight)
                stored_mean.copy_(blended[0])
                stored_var.copy_(blended[1])
        return output

    def _by_batch(self, x: Tensor) -> Tensor:
        """Normalise by the batch's statistics alone."""
        x, mean, var = self.policy.by_batch(x, self.eps)
        if mean is not None and var is not None and self.weight is not None:
            mean, var = mean.to(self.weight), var.to(self.weight)
        with self._statistics(mean, var):
            return super().forward(x)

    def _normalised_by(self, x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
        """Normalise here, where the statistics carry gradients; leave the rest to the layer."""
        per_channel = (1, -1) + (1,) * (x.dim() - 2)
        scale = (var + self.eps).rsqrt()
        normalised = (x - mean.view(per_channel)) * scale.view(per_channel)
        with self._statistics(torch.zeros_like(mean), torch.ones_like(var) - self.eps):
            return super().forward(normalised.to(x.dtype))

    def _native_by(self, x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
        """Normalise by constants, which the layer does best by itself."""
        with self._statistics(mean, var):
            return super().forward(x)

    def _shift_of(self, x: Tensor) -> Tensor:
        zeros = x.new_zeros(x.shape[1])
        with self._statistics(zeros, zeros + 1):
            return super().forward(torch.zeros_like(x))

    @contextmanager
    def _statistics(self, mean: Tensor | None, var: Tensor | None) -> Iterator[None]:
        """Show the layer these statistics instead of the stored ones; None means the batch's."""
        buffers = self._buffers
        stored = buffers["running_mean"], buffers["running_var"]
        buffers["running_mean"], buffers["running_var"] = mean, var
        try:
            yield
        finally:
            buffers["running_mean"], buffers["running_var"] = stored


def _towards_batch(
    mean: Tensor, var: Tensor, x: Tensor, policy: NormPolicy, weight: float
) -> tuple[Tensor, Tensor]:
    """Stored statistics moved by ``weight`` towards those of the batch."""
    values = x.to(torch.promote_types(x.dtype, torch.float32))
    batch_mean, batch_var = policy.moments(values, policy.unbiased)
    seen = batch_mean.to(mean.dtype), batch_var.to(var.dtype)
    return towards((mean, var), seen, weight, weight * (1 - weight) if policy.mixture else None)


@cache
def _obedient(kind: type[_BatchNorm]) -> type[_StreamBatchNorm]:
    return type(f"Stream{kind.__name__}", (_StreamBatchNorm, kind), {})


def contiguous_where_backward_crashes(layer: nn.Module, args: tuple[Any, ...]) -> Any:
    """Give group norm the memory layout whose backward is safe.

    torch 2.13 on a CPU segfaults in group norm's backward when the input is channels-last and
    needs no gradient, which is what the first group norm behind frozen convolutions gets.
    """
    x = args[0]
    if x.requires_grad or x.is_contiguous() or not torch.is_grad_enabled():
        return args
    return (x.contiguous(), *args[1:])


def install(model: nn.Module) -> list[_StreamBatchNorm]:
    """Make every batch norm of ``model`` obey a policy and every group norm safe; the former."""
    obedient: list[_StreamBatchNorm] = []
    for layer in model.modules():
        if isinstance(layer, _BatchNorm):
            if not isinstance(layer, _StreamBatchNorm):  # as those of another backbone are
                layer.__class__ = _obedient(type(layer))  # type: ignore[arg-type]
            obedient.append(layer)  # type: ignore[arg-type]
        elif isinstance(layer, nn.GroupNorm):
            layer.register_forward_pre_hook(contiguous_where_backward_crashes)
    for late in obedient[(len(obedient) + 1) // 2 :]:
        late.late = True
    return obedient


def uninstalled(model: nn.Module) -> nn.Module:
    """The model with batch norms as they were before ``install``, and no hooks of this module."""
    for layer in model.modules():
        if isinstance(layer, rows.RowLayer):
            layer.__class__ = type(layer).__bases__[1]
            for own in ("policy", "late", "rows", "path"):
                vars(layer).pop(own, None)
        hooks = layer._forward_pre_hooks
        for key in [k for k, hook in hooks.items() if hook is contiguous_where_backward_crashes]:
            del hooks[key]
    return model


def is_norm_layer(layer: nn.Module) -> bool:
    """Batch, layer, group, instance and RMS norms, and leaf modules that call themselves so."""
    known = (
        _BatchNorm,
        nn.LayerNorm,
        nn.GroupNorm,
        nn.modules.instancenorm._InstanceNorm,
    )
    if isinstance(layer, known):
        return True
    return "norm" in type(layer).__name__.lower() and not list(layer.children())
