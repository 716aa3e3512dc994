"""Peak memory of an update."""

import pytest

from trimtab.reproduce.experiments.memory import SLIM
from trimtab.reproduce.studies.memory import measure


@pytest.mark.slow
def test_single_samples_need_less_memory_than_a_batch_for_the_same_update() -> None:
    batch = measure("tent", SLIM, images=12, batch_size=12)
    single = measure("tent", SLIM, images=12, batch_size=1)
    assert batch["updates"] == single["updates"] == 1
    assert single["peak"] < 0.6 * batch["peak"]


@pytest.mark.slow
def test_what_goes_wrong_in_the_other_process_is_told() -> None:
    with pytest.raises(ValueError, match=r"memory of tent on vit_b_61 .*did you mean 'vit_b_16'"):
        measure("tent", "vit_b_61", images=2, batch_size=2)
