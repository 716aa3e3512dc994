"""Importing torchvision where its operators do not fit the installed torch."""

import subprocess
import sys

import pytest

from trimtab.models.missing_operators import import_torchvision

SCRIPT = """
import torch
from trimtab.models import missing_operators
torchvision = missing_operators.import_torchvision()
plain = not missing_operators.declared
model = torchvision.models.resnet18(weights=None)
print(model(torch.rand(1, 3, 64, 64)).shape[1], plain)
"""


@pytest.mark.slow
def test_torchvision_can_be_imported_and_used_in_a_fresh_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[0] == "1000"


def test_the_remedy_is_left_out_where_the_plain_import_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    imported = import_torchvision()

    def not_needed() -> None:
        raise AssertionError("operators were declared without need")

    monkeypatch.setattr("trimtab.models.missing_operators.declare_operators", not_needed)
    assert import_torchvision() is imported


def test_a_missing_torchvision_says_which_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    with pytest.raises(ImportError, match=r"pip install 'trimtab\[vision\]'"):
        import_torchvision()
