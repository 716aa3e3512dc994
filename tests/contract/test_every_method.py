"""What every method owes its users, whichever it is: checked for all of them by discovery."""

import pytest
from torch import Tensor

import trimtab
from contract.recipes import NORMS, full_batch, options_of
from reference import nets
from trimtab.testing.method_checks import METHOD_CHECKS
from trimtab.testing.subject import Subject

CASES = [(method, norm) for method in trimtab.METHODS for norm in NORMS]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param  # type: ignore[no-any-return]


@pytest.mark.parametrize("check", METHOD_CHECKS)
def test_every_method_keeps_its_promise(
    check: str, case: tuple[str, str], recorded: dict[str, Tensor], images: Tensor
) -> None:
    method, norm = case
    recipe = trimtab.build(method, **options_of(method, recorded))
    model = nets.trained(norm, recorded)
    METHOD_CHECKS[check](Subject(recipe, model, images, full_batch(method)))
