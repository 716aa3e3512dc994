"""Kinds of models as users have them: how each is made, and what comes of adapting it.

``docs/models.md`` has one row for each, and the tests hold it to that.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

import trimtab
from trimtab.models.missing_operators import import_torchvision


def images(size: int = 16, count: int = 16) -> Tensor:
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(0))


def net(norm: nn.Module | None = None, classes: int = 5) -> nn.Sequential:
    """A small convolutional network; batch norm where nothing else is said."""
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        norm or nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, classes),
    )


class Returning(nn.Module):
    """A network that returns something made of its logits."""

    def __init__(self, make: Callable[[Tensor], Any], model: nn.Module | None = None) -> None:
        super().__init__()
        self.model = model or net()
        self.make = make

    def forward(self, x: Tensor) -> Any:
        return self.make(self.model(x))


class Trained(nn.Module):
    """A module with a trainer, in the way of Lightning's: it must not be copied along."""

    def __init__(self) -> None:
        super().__init__()
        self.model = net()
        self._trainer = SimpleNamespace(loader=(image for image in images()))  # cannot be copied

    def forward(self, x: Tensor) -> Tensor:
        return self.model(x)  # type: ignore[no-any-return]

    def training_step(self, batch: Tensor, number: int) -> None:
        raise AssertionError("adaptation calls forward alone")


class Text(nn.Module):
    """In the way of Hugging Face's models for text."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.norm, self.head = nn.Embedding(9, 8), nn.LayerNorm(8), nn.Linear(8, 5)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> SimpleNamespace:
        states = self.norm(self.embed(input_ids)) * attention_mask[..., None]
        return SimpleNamespace(logits=self.head(states.sum(1)))


class Vision(nn.Module):
    """In the way of Hugging Face's models for images."""

    def __init__(self) -> None:
        super().__init__()
        self.model = net()

    def forward(self, pixel_values: Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.model(pixel_values))


def tokens() -> dict[str, Tensor]:
    ids = torch.arange(48).view(16, 3) % 9
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def tied() -> nn.Module:
    model = net(classes=8)
    model.append(nn.Linear(8, 8))
    model[-1].weight = model[-2].weight
    return model


def nested_wrappers() -> nn.Module:
    model = net()
    model[0], model[1] = nn.DataParallel(model[0]), torch.compile(model[1])  # type: ignore[assignment]
    return model


def compiled_in_place() -> nn.Module:
    model = net()
    model.compile()
    return model


def distributed(shard: bool = False) -> nn.Module:
    dist = torch.distributed
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        if shard:
            model = net()
            public = "torch.distributed.fsdp"
            known = hasattr(importlib.import_module(public), "fully_shard")
            home = public if known else "torch.distributed._composable.fsdp"  # before torch 2.6
            importlib.import_module(home).fully_shard(model)
            return model
        return nn.parallel.DistributedDataParallel(net())
    finally:
        dist.destroy_process_group()


def backbones_own() -> nn.Module:
    backbone = trimtab.Backbone(net())
    trimtab.adapt(backbone, "tent")(images())
    return backbone.model


def quantised() -> nn.Module:
    return torch.ao.quantization.quantize_dynamic(net().eval(), {nn.Linear})  # type: ignore[no-any-return]


def timm_network() -> nn.Module:
    import_torchvision()
    timm = importlib.import_module("timm")
    return timm.create_model("resnet10t", num_classes=5)  # type: ignore[no-any-return]


def torchvision_network() -> nn.Module:
    networks = importlib.import_module(f"{import_torchvision().__name__}.models")
    return networks.squeezenet1_1(num_classes=5)  # type: ignore[no-any-return]


def normed_torchvision_network() -> nn.Module:
    networks = importlib.import_module(f"{import_torchvision().__name__}.models")
    return networks.shufflenet_v2_x0_5(num_classes=5)  # type: ignore[no-any-return]


def recurrent() -> nn.Module:
    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.lstm, self.norm = nn.LSTM(4, 8, batch_first=True), nn.LayerNorm(8)
            self.head = nn.Linear(8, 5)

        def forward(self, x: Tensor) -> Tensor:
            return self.head(self.norm(self.lstm(x)[0][:, -1]))  # type: ignore[no-any-return]

    return Recurrent()


@dataclass(frozen=True)
class Kind:
    """One kind of model.

    Args:
        title: As the table says it.
        refused: A piece of the sentence that refuses it; None where it works.
        updates: Whether the method learns from the batch.
    """

    title: str
    make: Callable[[], Any]
    method: str = "roid"
    inputs: Callable[[], Any] = images
    options: dict[str, Any] = field(default_factory=dict)
    refused: str | None = None
    updates: bool = True


def _flat() -> Tensor:
    return images().flatten(1)[:, :9]


def _table(norm: nn.Module) -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(9, 8), norm, nn.ReLU(), nn.Linear(8, 5))


def _audio() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Conv1d(1, 8, 5), nn.BatchNorm1d(8), nn.AdaptiveAvgPool1d(1), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(8, 5))


def _volume() -> nn.Module:
    torch.manual_seed(0)
    layers = nn.Conv3d(1, 8, 3), nn.BatchNorm3d(8), nn.AdaptiveAvgPool3d(1), nn.Flatten()
    return nn.Sequential(*layers, nn.Linear(8, 5))


def _lazy() -> nn.Module:
    return nn.Sequential(nn.LazyConv2d(8, 3), nn.BatchNorm2d(8), nn.Flatten(), nn.LazyLinear(5))


def _rms() -> nn.Module:
    return _table(nn.RMSNorm(8))


WORKS = (
    Kind("convolutions with BatchNorm", net),
    Kind("GroupNorm", lambda: net(nn.GroupNorm(2, 8))),
    Kind("InstanceNorm with scale and shift", lambda: net(nn.InstanceNorm2d(8, affine=True))),
    Kind("SyncBatchNorm", lambda: nn.SyncBatchNorm.convert_sync_batchnorm(net())),
    Kind("LayerNorm on tables", lambda: _table(nn.LayerNorm(8)), "tent", _flat),
    Kind("RMSNorm on tables", _rms, "tent", _flat),
    Kind("BatchNorm1d on tables", lambda: _table(nn.BatchNorm1d(8)), "tent", _flat),
    Kind("audio (Conv1d)", _audio, "tent", lambda: images().flatten(1)[:, None, :99]),
    Kind("volumes (Conv3d)", _volume, "tent", lambda: images()[:, None, :, :8, :8]),
    Kind("recurrent (LSTM)", recurrent, "tent", lambda: images().flatten(2)[:, :, :4]),
    Kind(
        "weight norm (parametrisation)", lambda: nn.Sequential(net(), weight_norm(nn.Linear(5, 5)))
    ),
    Kind("tied weights", tied),
    Kind("channels-last model", lambda: net().to(memory_format=torch.channels_last)),  # type: ignore[call-overload]
    Kind("bfloat16", lambda: net().bfloat16(), "tent", lambda: images().bfloat16()),
    Kind("float64", lambda: net().double(), inputs=lambda: images().double()),
    Kind("torch.compile(model)", lambda: torch.compile(net())),
    Kind("model.compile()", compiled_in_place),
    Kind("compiled and parallel parts inside", nested_wrappers),
    Kind("DataParallel", lambda: nn.DataParallel(net())),
    Kind("DistributedDataParallel", distributed),
    Kind("LightningModule-like, with its trainer", Trained),
    Kind("torch.fx.symbolic_trace", lambda: torch.fx.symbolic_trace(net())),
    Kind("`backbone.model` of another Backbone", backbones_own),
    Kind("timm", timm_network, options={"normalization": "model"}, inputs=lambda: images(32)),
    Kind("torchvision", normed_torchvision_network, inputs=lambda: images(64)),
    Kind(
        "Hugging Face-like: pixel_values to .logits",
        Vision,
        inputs=lambda: {"pixel_values": images()},
    ),
    Kind("Hugging Face-like: input_ids and attention_mask", Text, "tent", tokens),
    Kind("returns a mapping with `logits` or `out`", lambda: Returning(lambda z: {"out": z})),
    Kind("returns a tuple, logits first", lambda: Returning(lambda z: (z, z.mean()))),
    Kind("returns something else", lambda: Returning(lambda z: {"a": z}), options={"output": "a"}),
    Kind(
        "returns probabilities, which is said",
        lambda: Returning(lambda z: z.softmax(1)),
        options={"output": "probabilities"},
    ),
    Kind(
        "returns one logit, made two",
        lambda: net(classes=1),
        options={"output": lambda z: torch.cat([torch.zeros_like(z), z], 1)},
    ),
    Kind("quantised, by a method that trains nothing", quantised, "bn1", updates=False),
)

REFUSED = (
    Kind("no norm layers", lambda: net(nn.Identity()), refused="has none with parameters"),
    Kind(
        "torchvision without norm layers", torchvision_network, refused="has none with parameters"
    ),
    Kind("quantised (dynamic)", quantised, refused="no gradient reaches what this method trains"),
    Kind(
        "detaches its logits, or predicts under no_grad",
        lambda: Returning(Tensor.detach),
        refused="no gradient reaches what this method trains",
    ),
    Kind(
        "torch.jit.trace, torch.jit.script",
        lambda: torch.jit.trace(net().eval(), images()),
        refused="is scripted or traced by torch.jit",
    ),
    Kind(
        "torch.export program",
        lambda: torch.export.export(net().eval(), (images(),)),
        refused="is a program of torch.export",
    ),
    Kind(
        "torch.export program's module()",
        lambda: torch.export.export(net().eval(), (images(),)).module(),
        refused="is a graph of torch.export",
    ),
    Kind("sharded (FSDP)", lambda: distributed(shard=True), refused="are sharded over processes"),
    Kind("lazy layers before their first batch", _lazy, refused="has lazy layers without weights"),
    Kind("meta tensors", lambda: net().to("meta"), refused="has weights without values"),
    Kind("a plain function", lambda: torch.relu, refused="must be a torch.nn.Module"),
    Kind("an Adapter", lambda: trimtab.adapt(net()), refused="must be a torch.nn.Module"),
    Kind(
        "returns probabilities",
        lambda: Returning(lambda z: z.softmax(1)),
        refused='pass output="probabilities"',
    ),
    Kind(
        "ends in a sigmoid (several labels)",
        lambda: nn.Sequential(net(), nn.Sigmoid()),
        refused="several labels can hold for a sample",
    ),
    Kind("returns one logit", lambda: net(classes=1), refused="the model returns one logit"),
    Kind(
        "segmentation (batch, classes, height, width)",
        lambda: nn.Sequential(nn.Conv2d(3, 5, 1), nn.BatchNorm2d(5)),
        refused=r"must return logits of shape \(batch, classes\)",
    ),
    Kind(
        "returns something else, unsaid",
        lambda: Returning(lambda z: {"a": z}),
        refused="no logits were found in what the model returns, a dict with 'a'",
    ),
    Kind(
        "text, by a method that augments images",
        Text,
        inputs=tokens,
        refused="pass augment= with a function that alters your kind of inputs",
    ),
)
