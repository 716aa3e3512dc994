"""DeYO: options of how structure is destroyed."""

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets


@pytest.mark.parametrize("destruction", ["patches", "pixels", "occlusion"])
def test_every_destruction_works_by_name(model: nets.Net, images: Tensor, destruction: str) -> None:
    adapter = trimtab.adapt(model, f"deyo(destruction={destruction!r}, min_drop=-1.0)")
    for batch in images[:48].split(16):
        assert adapter(batch).isfinite().all()
    assert adapter.counters.updates > 0


@pytest.mark.parametrize("norm", ["ln"])
def test_the_seed_decides_how_patches_are_shuffled(model: nets.Net, images: Tensor) -> None:
    def after(seed: int) -> Tensor:
        adapter = trimtab.adapt(model, "deyo", seed=seed, min_drop=0.0)
        for batch in images.split(16):
            adapter(batch)
        return torch.cat([p.detach().flatten() for p in adapter.params.values()])

    assert torch.equal(after(0), after(0))
    assert not torch.equal(after(0), after(1))


def test_an_unknown_destruction_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="occlusion, patches, pixels; did you mean 'patches'"):
        trimtab.build("deyo", destruction="patch")
