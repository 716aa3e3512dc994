"""What every component owes its users, whichever it is: checked for all of them by discovery."""

import pytest
from torch import Tensor

import trimtab
from contract.recipes import component, rotated
from reference import nets
from trimtab.testing.component_checks import COMPONENT_CHECKS
from trimtab.testing.subject import Subject


@pytest.mark.parametrize("check", COMPONENT_CHECKS)
@pytest.mark.parametrize("name", trimtab.COMPONENTS)
def test_every_component_keeps_its_promise(
    name: str, check: str, recorded: dict[str, Tensor], images: Tensor
) -> None:
    """TENT with this component, or this component's objective in place of TENT's."""
    idea = component(name, recorded)
    model = nets.trained(rotated(name), recorded)
    COMPONENT_CHECKS[check](Subject(trimtab.build("tent").plus(idea), model, images), idea)
