"""Gradients within a limit of memory: as many samples at once as it allows."""

import gc
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor

import trimtab
from core.attempts import attempt_of
from reference import nets
from trimtab import methods
from trimtab.core.memory_limit import bytes_in, bytes_of_a_sample


class Held:
    """Bytes of saved tensors that are alive, and the most there were."""

    def __init__(self) -> None:
        self.now: dict[int, int] = {}
        self.most = 0

    def pack(self, tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        key = storage.data_ptr()
        if key not in self.now:
            self.now[key] = storage.nbytes()
            weakref.finalize(storage, self.now.pop, key, None)
        self.most = max(self.most, sum(self.now.values()))
        return tensor


def limit_for(model: nets.Net, samples: int) -> int:
    """Bytes that allow so many samples of ROID, which passes each and a view of it."""
    backbone = trimtab.Backbone(model)
    recipe = methods.build("roid")
    sample = torch.zeros(1, 3, 16, 16)
    backbone.probe(sample)
    each = bytes_of_a_sample(backbone, recipe.source_params(backbone), sample)
    return int(1.25 * 2 * each * (samples + 0.5))


def test_a_limit_means_the_micro_batch_that_fits(model: nets.Net, images: Tensor) -> None:
    limit = limit_for(model, 5)
    chosen = trimtab.adapt(model, "roid", micro_batch="auto", memory_limit=limit)
    given = trimtab.adapt(model, "roid", micro_batch=5)
    for batch in images[:32].split(16):
        assert torch.equal(chosen(batch), given(batch))
    assert attempt_of(chosen).micro_batch == 5


def test_graphs_take_no_more_than_the_limit(model: nets.Net, images: Tensor) -> None:
    limit = limit_for(model, 5)
    most = {}
    ways: dict[str, dict[str, Any]] = {
        "whole": {},
        "limited": {"micro_batch": "auto", "memory_limit": limit},
    }
    for name, options in ways.items():
        adapter, held = trimtab.adapt(model, "roid", **options), Held()
        adapter(images[:16])
        gc.collect()
        with torch.autograd.graph.saved_tensors_hooks(held.pack, lambda saved: saved):
            adapter(images[16:32])
        most[name] = held.most
    assert most["limited"] <= limit < most["whole"]


def test_batches_that_fit_are_taken_whole(model: nets.Net, images: Tensor) -> None:
    roomy = trimtab.adapt(model, "roid", micro_batch="auto", memory_limit="2 GB")
    plain = trimtab.adapt(model, "roid")
    assert torch.equal(roomy(images[:16]), plain(images[:16]))


def test_a_saved_state_goes_on_under_its_own_limit_only(model: nets.Net, images: Tensor) -> None:
    adapters = [
        trimtab.adapt(model, "tent", micro_batch="auto", memory_limit=limit)
        for limit in ("1MB", "1MB", "2MB")
    ]
    adapters[0](images[:16])
    adapters[1].load_state_dict(adapters[0].state_dict())
    with pytest.raises(ValueError, match="its micro_batch is auto, 1048576 bytes"):
        adapters[2].load_state_dict(adapters[0].state_dict())


@pytest.mark.parametrize(
    ("words", "expected"), [("2GB", 2**31), ("500 mb", 500 * 2**20), (1000, 1000), ("1.5KiB", 1536)]
)
def test_sizes_are_read_as_people_write_them(words: int | str, expected: int) -> None:
    assert bytes_in(words) == expected


@pytest.mark.parametrize("words", ["", "much", "-1GB", 0, -5, True, "2 apples"])
def test_other_sizes_are_refused(words: int | str) -> None:
    with pytest.raises(ValueError, match="memory_limit must be bytes or words"):
        bytes_in(words)


def test_a_limit_and_auto_belong_together(model: nets.Net) -> None:
    with pytest.raises(ValueError, match='micro_batch="auto" needs a limit'):
        trimtab.adapt(model, "roid", micro_batch="auto")
    with pytest.raises(ValueError, match='memory_limit= belongs to micro_batch="auto"'):
        trimtab.adapt(model, "roid", micro_batch=4, memory_limit="1GB")
