"""Which parameters of a network lie before its last blocks, whatever its layers are called."""

from dataclasses import dataclass

from torch import nn

from trimtab.core import norm
from trimtab.core.backbone import ParameterFilter

FEWEST_BLOCKS = 4
"""A trunk of fewer blocks has none that are last."""


@dataclass(frozen=True)
class NormBeforeLastBlocks:
    """Scale and shift of the norm layers before the last quarter of the trunk.

    The trunk is the outermost row of sibling modules that hold two norm layers or more each: the
    stages of a convolutional network, the blocks of a transformer. Of four or more, the last
    quarter is left out, and so is everything defined after it: the last of ResNet-50's four
    stages, the last three of a ViT-B's twelve blocks and its final norm. The reference leaves out
    the same by name (``layer4``, ``blocks.9`` to ``blocks.11``, ``norm``) and so leaves out
    nothing where layers have other names, and three blocks of any transformer, however deep.
    """

    def within(self, model: nn.Module) -> ParameterFilter:
        """The filter for one network."""
        late = late_layers(model)
        return lambda layer, _: norm.is_norm_layer(layer) and layer not in late


def late_layers(model: nn.Module) -> set[nn.Module]:
    """The last quarter of the trunk and all that is defined after it; empty without a trunk."""
    blocks = trunk(model)
    if len(blocks) < FEWEST_BLOCKS:
        return set()
    first = blocks[-(len(blocks) // 4)]
    layers = list(model.modules())
    return set(layers[layers.index(first) :])


def trunk(model: nn.Module) -> list[nn.Module]:
    """The outermost row of siblings with two norm layers or more each, in order."""
    blocks = [child for child in model.children() if _norm_layers(child) >= 2]
    return trunk(blocks[0]) if len(blocks) == 1 else blocks


def _norm_layers(module: nn.Module) -> int:
    return sum(
        norm.is_norm_layer(layer) and bool(list(layer.parameters(recurse=False)))
        for layer in module.modules()
    )
