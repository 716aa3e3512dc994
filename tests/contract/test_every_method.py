"""What every method owes its users, whichever it is: checked for all of them by discovery."""

import pytest
from torch import Tensor

import trimtab
from contract.recipes import NORMS, full_batch, options_of, rotated
from reference import nets
from trimtab.testing.method_checks import METHOD_CHECKS, SIZES
from trimtab.testing.subject import Subject

ON_EVERY_NORM = {
    "the_model_stays",
    "extreme_logits_are_survived",
    f"a_restored_stream_goes_on[{max(SIZES)}]",
    *(f"logits_are_finite[{size}]" for size in (min(SIZES), max(SIZES))),
    *(f"degenerate_batches_are_survived[{size}]" for size in (min(SIZES), max(SIZES))),
}
"""Checks of what norm layers do and keep: their statistics, single samples, constant batches.

The others ask nothing of a norm layer. Each method is checked for them on one kind, another one
from check to check, so that every method meets all kinds and every check is done on all.
"""

CASES = [
    (check, method, norm)
    for check in METHOD_CHECKS
    for method in trimtab.METHODS
    for norm in NORMS
    if check in ON_EVERY_NORM or norm == rotated(check, method)
]


def test_every_check_is_done_for_every_method_and_on_every_norm() -> None:
    assert METHOD_CHECKS.keys() >= ON_EVERY_NORM
    checked = {(check, method) for check, method, _ in CASES}
    assert len(checked) == len(METHOD_CHECKS) * len(trimtab.METHODS)
    assert len({(check, norm) for check, _, norm in CASES}) == len(METHOD_CHECKS) * len(NORMS)
    assert len({(method, norm) for _, method, norm in CASES}) == len(trimtab.METHODS) * len(NORMS)


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_every_method_keeps_its_promise(
    case: tuple[str, str, str], recorded: dict[str, Tensor], images: Tensor
) -> None:
    check, method, norm = case
    recipe = trimtab.build(method, **options_of(method, recorded))
    model = nets.trained(norm, recorded)
    METHOD_CHECKS[check](Subject(recipe, model, images, full_batch(method)))
