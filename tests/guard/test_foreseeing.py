"""A prediction is what a call would return, to the bit, whoever answers."""

import torch
from torch import Tensor

import trimtab
from reference import nets


def test_on_trial_corrections_of_micro_batches_foresee_what_the_source_answers(
    recorded: dict[str, Tensor], images: Tensor
) -> None:
    model = nets.trained("gn", recorded)
    adapter = trimtab.adapt(model, "lame", guard=True, micro_batch=1)
    for batch in images.repeat(2, 1, 1, 1).split(17):
        promised = adapter.predict(batch)
        assert adapter.health.predicting == "source"
        assert torch.equal(adapter(batch), promised)
