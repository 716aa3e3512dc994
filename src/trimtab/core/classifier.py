"""Where the classifier of a network is, so that its input can serve as features."""

from collections.abc import Callable, Mapping

from torch import nn


def last_linear(modules: Mapping[str, nn.Module], run: Callable[[], object]) -> str | None:
    """Name of the last linear layer that a run goes through, whatever the architecture calls it.

    Args:
        modules: The network's, by name.
        run: Sends samples through the network.
    """
    order: list[str] = []

    def noting(path: str) -> Callable[..., None]:
        return lambda *_: order.append(path)

    handles = [
        layer.register_forward_pre_hook(noting(path))
        for path, layer in modules.items()
        if is_linear(layer)
    ]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return order[-1] if order else None


def is_linear(layer: nn.Module) -> bool:
    """Whether a layer is a matrix product, quantised or not."""
    kind = type(layer)
    quantised = kind.__name__ == "Linear" and kind.__module__.startswith("torch.ao.nn.quantized")
    return isinstance(layer, nn.Linear) or quantised
