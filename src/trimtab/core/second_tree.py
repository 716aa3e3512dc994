"""A second tree of modules over the tensors of a model."""

import copy

from torch import Tensor, nn


def second_tree(model: nn.Module) -> nn.Module:
    """New modules over the same values, frozen and in evaluation mode.

    ``copy.deepcopy`` takes what its memo already knows: each tensor is known by a detached twin
    that shares its storage, so tied weights stay tied and nothing is copied.
    """
    memo: dict[int, object] = {}
    for module in model.modules():
        for tensor in (*vars(module).values(), *module._buffers.values()):
            if isinstance(tensor, Tensor):
                memo[id(tensor)] = tensor.detach()
        for parameter in module._parameters.values():
            if parameter is not None:
                memo[id(parameter)] = nn.Parameter(parameter.detach(), requires_grad=False)
    return copy.deepcopy(model, memo).eval()
