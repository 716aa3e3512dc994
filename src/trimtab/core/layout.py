"""How images are best laid before a network: in memory, and how many at a time."""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.conv import _ConvNd

from trimtab.image_size import is_small

FEW_THREADS = 4
"""Threads that one large image keeps busy."""

MOST_CONVOLVED = 0.05
"""Share of a transformer's parameters that its convolutions may have."""


def prefers_channels_last(model: nn.Module, device: torch.device) -> bool:
    """Whether images with their channels innermost are worth it.

    On a CPU, networks with batch norms then take 10 to 16 % less, forward and backward; those
    with group norms do not. The layers decide, not a stopwatch, so that a stream's bits are the
    same in every run.
    """
    layers = list(model.modules())
    has_images = any(isinstance(layer, nn.Conv2d) for layer in layers)
    has_batch_norm = any(isinstance(layer, _BatchNorm) for layer in layers)
    has_group_norm = any(isinstance(layer, nn.GroupNorm) for layer in layers)
    return device.type == "cpu" and has_images and has_batch_norm and not has_group_norm


def channels_last(images: Tensor) -> Tensor:
    """The same images with their channels innermost; other shapes as they are."""
    if images.dim() != 4:
        return images
    _, channels, height, width = images.shape
    strides = (height * width * channels, 1, width * channels, channels)
    # of a single channel torch knows no layout, unless the strides say it
    return images.contiguous(memory_format=torch.channels_last).as_strided(images.shape, strides)


def prefers_single_samples(model: nn.Module) -> bool:
    """Whether a network takes large images as fast one by one: a transformer does.

    Its samples must not share statistics, and its work must lie in linear layers; convolutions
    prepare their weights for each call, which costs single images a quarter.
    """
    layers = list(model.modules())
    convolutions = [layer for layer in layers if isinstance(layer, _ConvNd)]
    convolved = sum(layer.weight.numel() for layer in convolutions)
    everything = sum(parameter.numel() for parameter in model.parameters())
    shares_statistics = any(isinstance(layer, _BatchNorm) for layer in layers)
    return not shares_statistics and convolved < MOST_CONVOLVED * everything


def suits_single_samples(inputs: Tensor) -> bool:
    """Whether one image of this size keeps the machine busy.

    Each sample then has a graph of its own, and those that are left out need no backward pass.
    Small images, and machines of many cores, get a batch at once to be kept busy.
    """
    few = inputs.device.type == "cpu" and torch.get_num_threads() <= FEW_THREADS
    return few and inputs.dim() == 4 and not is_small(tuple(inputs.shape[1:]))
