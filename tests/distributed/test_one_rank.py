"""A group of one rank is one process, and what is outside of a group has no stream."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

import trimtab
from distributed import streams
from same import assert_same
from trimtab.core.norm import NormPolicy
from trimtab.distributed.joint_statistics import jointly


@pytest.fixture
def group(tmp_path: Path) -> Iterator[dist.ProcessGroup]:
    """This process alone."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield dist.group.WORLD  # type: ignore[misc]
    dist.destroy_process_group()


@pytest.mark.parametrize("norm", ["bn", "flat", "untracked"])
def test_one_rank_gets_the_bits_of_one_process(norm: str, group: dist.ProcessGroup) -> None:
    case = streams.Case("roid", norm, {})
    shared = streams.start(case, torch.float32, process_group=group)
    alone = streams.start(case, torch.float32)
    for size in (16, 1, 20):
        batch = streams.samples()[:size]
        assert torch.equal(shared(batch), alone(batch))
    assert_same(shared.state_dict(), alone.state_dict())


def test_a_clone_goes_on_by_itself_in_the_same_group(group: dist.ProcessGroup) -> None:
    stream = streams.start(streams.Case("tent", "bn", {}), torch.float32, process_group=group)
    stream(streams.samples()[:16])
    before, twin = stream.state_dict(), stream.clone()
    twin(streams.samples()[16:32])
    assert_same(stream.state_dict(), before)
    assert twin.counters.samples == 32


def test_a_process_outside_of_the_group_is_refused(group: dist.ProcessGroup) -> None:
    outside = dist.GroupMember.NON_GROUP_MEMBER
    with pytest.raises(ValueError, match="this process is not in the process group"):
        trimtab.adapt(streams.net("bn"), "tent", process_group=outside)  # type: ignore[arg-type]


def test_a_failure_of_the_only_rank_is_its_own(group: dist.ProcessGroup) -> None:
    stream = streams.start(streams.Case("tent", "bn", {}), torch.float32, process_group=group)
    with pytest.raises(ValueError, match="at least one sample on some rank"):
        stream(streams.samples()[:0])
    assert stream(streams.samples()[:16]).shape == (16, 7)


def test_medians_with_gradients_are_refused_over_several_processes() -> None:
    with pytest.raises(ValueError, match="medians are constants for gradients"):
        jointly(NormPolicy(1.0, median=True), None, [1, 1])  # type: ignore[arg-type]
