"""All contract checks in one call, for methods and components that live elsewhere."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn

from trimtab import methods
from trimtab.core.component import Component
from trimtab.core.method import Method
from trimtab.testing.component_checks import COMPONENT_CHECKS
from trimtab.testing.method_checks import METHOD_CHECKS
from trimtab.testing.subject import NORMS, Subject, small_images, small_net


def check_method(
    factory: Callable[..., Method] | str,
    *,
    models: Iterable[nn.Module] | None = None,
    images: Tensor | None = None,
    **options: Any,
) -> None:
    """Check that a method keeps every promise; an AssertionError names the first broken one.

    Args:
        factory: Returns the recipe; or its words, such as ``"my_module:steady_tent"``.
        models: Networks to check it on; by default three small ones, with batch, group and layer
            norm.
        images: At least 80 images in [0, 1] that the networks take; random patterns by default.
        options: The factory's options, such as source data that it needs.
    """
    make = partial(methods.build, factory) if isinstance(factory, str) else _called(factory)
    for subject, model in _subjects(lambda: make(**options), models, images):
        _run(METHOD_CHECKS, model, subject)


def check_component(
    factory: Callable[..., Component] | str,
    *,
    base: str = "tent",
    models: Iterable[nn.Module] | None = None,
    images: Tensor | None = None,
    **options: Any,
) -> None:
    """Check that a component keeps every promise; an AssertionError names the first broken one.

    Args:
        factory: Returns the component; or its name, such as ``"my_module:MarginLoss"``.
        base: The method that it is added to.
        models: As for ``check_method``.
        images: As for ``check_method``.
        options: The component's settings.
    """
    find = methods.COMPONENTS.find
    component = (find(factory) if isinstance(factory, str) else _called(factory))(**options)
    recipe = partial(methods.build(base).plus, component)
    for subject, model in _subjects(recipe, models, images):
        checks = {name: _bound(check, component) for name, check in COMPONENT_CHECKS.items()}
        _run(checks, model, subject)


def _called(factory: object) -> Callable[..., Any]:
    """The factory, which must be something to call."""
    if not callable(factory):
        raise TypeError(
            "what is checked must be a factory, or the words for one, got "
            f"{type(factory).__name__}: {str(factory)[:80]}"
        )
    return factory


def _bound(check: Callable[[Subject, Component], None], component: Component) -> Any:
    return lambda subject: check(subject, component)


def _subjects(
    recipe: Callable[[], Method], models: Iterable[nn.Module] | None, images: Tensor | None
) -> Iterable[tuple[Subject, str]]:
    shown = small_images() if images is None else images
    given = (
        {f"a small net with {norm}": small_net(norm) for norm in NORMS}
        if models is None
        else {type(model).__name__: model for model in models}
    )
    for name, model in given.items():
        yield Subject(recipe(), model, shown), name


def _run(checks: Mapping[str, Callable[[Subject], None]], model: str, subject: Subject) -> None:
    for name, check in checks.items():
        try:
            check(subject)
        except Exception as error:
            raise AssertionError(f"{name} on {model}: {type(error).__name__}: {error}") from error
