"""Networks by name: ``load("cifar10_resnet20_bn")`` is a Backbone for images in [0, 1]."""

from trimtab.models.loading import build, load
from trimtab.models.local_weights import fingerprint
from trimtab.models.table import MODELS, describe

__all__ = ["MODELS", "build", "describe", "fingerprint", "load"]
