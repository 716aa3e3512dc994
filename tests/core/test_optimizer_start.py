"""What a first step of adaptation must not pay for."""

import subprocess
import sys

import pytest

FIRST_STEPS = """
import sys
import torch
import trimtab

model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.LayerNorm(12), torch.nn.Linear(12, 4))
for kind in ("adam", "sgd"):
    adapter = trimtab.adapt(model, "tent", optimizer=kind)
    adapter(torch.rand(8, 3, 2, 2))
    assert adapter.counters.updates == 1
print("torch._dynamo" in sys.modules)
"""


@pytest.mark.slow
def test_a_first_update_does_not_load_the_compiler() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEPS], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
