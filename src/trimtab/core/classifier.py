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
        if isinstance(layer, nn.Linear)
    ]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return order[-1] if order else None
