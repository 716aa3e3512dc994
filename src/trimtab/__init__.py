"""Universal test-time adaptation for PyTorch."""

import importlib
from typing import TYPE_CHECKING, Any

from trimtab.version import __version__

if TYPE_CHECKING:
    from trimtab.api import adapt
    from trimtab.core.adapter import Adapter
    from trimtab.core.aligned import aligned
    from trimtab.core.backbone import Backbone, everywhere, in_norm_layers
    from trimtab.core.forward_only import ForwardBackbone
    from trimtab.core.guard.health import Health
    from trimtab.core.guard.settings import Guard
    from trimtab.core.method import Method
    from trimtab.core.prompted import prompted
    from trimtab.core.saved import read_manifest
    from trimtab.core.task import Segmentation
    from trimtab.demo import load_demo
    from trimtab.fleets.api import fleet, load_fleet
    from trimtab.fleets.fleet import Fleet, StreamError
    from trimtab.freed_memory import keep_freed_memory
    from trimtab.methods import COMPONENTS, METHODS, build
    from trimtab.onnx_backbone import OnnxBackbone
    from trimtab.predict.images import predict_images
    from trimtab.server.client import Client

_HOMES = {
    "COMPONENTS": "trimtab.methods",
    "METHODS": "trimtab.methods",
    "Adapter": "trimtab.core.adapter",
    "Backbone": "trimtab.core.backbone",
    "Client": "trimtab.server.client",
    "Fleet": "trimtab.fleets.fleet",
    "ForwardBackbone": "trimtab.core.forward_only",
    "Guard": "trimtab.core.guard.settings",
    "Health": "trimtab.core.guard.health",
    "Method": "trimtab.core.method",
    "OnnxBackbone": "trimtab.onnx_backbone",
    "Segmentation": "trimtab.core.task",
    "StreamError": "trimtab.fleets.fleet",
    "adapt": "trimtab.api",
    "aligned": "trimtab.core.aligned",
    "build": "trimtab.methods",
    "everywhere": "trimtab.core.backbone",
    "fleet": "trimtab.fleets.api",
    "in_norm_layers": "trimtab.core.backbone",
    "keep_freed_memory": "trimtab.freed_memory",
    "load_demo": "trimtab.demo",
    "load_fleet": "trimtab.fleets.api",
    "predict_images": "trimtab.predict.images",
    "prompted": "trimtab.core.prompted",
    "read_manifest": "trimtab.core.saved",
}

__all__ = [
    "COMPONENTS",
    "METHODS",
    "Adapter",
    "Backbone",
    "Client",
    "Fleet",
    "ForwardBackbone",
    "Guard",
    "Health",
    "Method",
    "OnnxBackbone",
    "Segmentation",
    "StreamError",
    "__version__",
    "adapt",
    "aligned",
    "build",
    "everywhere",
    "fleet",
    "in_norm_layers",
    "keep_freed_memory",
    "load_demo",
    "load_fleet",
    "predict_images",
    "prompted",
    "read_manifest",
]


def __dir__() -> list[str]:
    """The public names, also those not loaded yet."""
    return __all__


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the command line's help needs no torch."""
    if name not in _HOMES:
        raise AttributeError(f"module 'trimtab' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
