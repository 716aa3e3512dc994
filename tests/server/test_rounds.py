"""Batching of requests: together where they can be, in order where they must be."""

import asyncio
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trimtab
from server.running import service
from trimtab.server.errors import RequestError
from trimtab.server.limits import Limits
from trimtab.server.rounds import Round, Rounds
from trimtab.server.service import Service
from trimtab.server.work import Outcome, Work


def computed(
    served: Service, works: list[Work], **options: float
) -> tuple[list[Outcome], list[Round]]:
    """What comes of works that arrive at once, and the rounds that they made."""
    done: list[Round] = []

    async def go() -> list[Outcome]:
        rounds = Rounds(served.streams, on_round=done.append, **options)  # type: ignore[arg-type]
        rounds.start()
        found = await asyncio.gather(*(rounds.do(work) for work in works))
        await rounds.drain()
        return found

    return asyncio.run(go()), done


def test_requests_of_many_streams_are_one_step(net: nn.Module, images: Tensor) -> None:
    works = [Work(f"cam-{place}", images[place : place + 2]) for place in range(12)]
    works += [Work(None, images[place : place + 1]) for place in range(6)]
    found, rounds = computed(service(net, images), works, max_delay_seconds=0.5, max_batch=30)
    assert [(done.samples, done.streams) for done in rounds] == [(30, 18)]
    alone = trimtab.fleet(net, "tent")
    for work, outcome in zip(works[:12], found[:12], strict=True):
        assert work.stream is not None
        assert torch.allclose(outcome.value, alone[work.stream](work.inputs), atol=1e-5)
    with torch.no_grad():
        expected = net.eval()(images[:6])
    assert torch.allclose(torch.cat([outcome.value for outcome in found[12:]]), expected, atol=1e-5)


def test_requests_of_one_stream_are_steps_in_their_order(net: nn.Module, images: Tensor) -> None:
    works = [Work("cam", images[first : first + 8]) for first in range(0, 48, 8)]
    found, rounds = computed(service(net, images), works, max_batch=64)
    assert len(rounds) == 6
    alone = trimtab.fleet(net, "tent")["cam"]
    for work, outcome in zip(works, found, strict=True):
        assert np.array_equal(outcome.value, alone(work.inputs))


def test_no_round_is_larger_than_allowed_but_a_large_request_alone(
    net: nn.Module, images: Tensor
) -> None:
    works = [Work(f"cam-{place}", images[: 1 + place]) for place in range(8)]
    _, rounds = computed(service(net, images), works, max_batch=6, max_delay_seconds=0.2)
    assert sum(done.samples for done in rounds) == 36
    assert all(done.samples <= 6 or done.streams == 1 for done in rounds)
    assert len(rounds) < 8


def test_windows_that_fill_at_one_time_are_learned_from_in_turns(
    net: nn.Module, images: Tensor
) -> None:
    served = service(net, images, window=4)
    streams = [f"full-{place}" for place in range(6)]
    for stream in streams:
        served.streams.adapter(stream)(images[:3])
    works = [Work(stream, images[3:4]) for stream in streams]
    works += [Work(f"new-{place}", images[:1]) for place in range(3)]
    learned: list[int] = []
    step = served.streams.fleet.step

    def counted(batches: dict[str, Tensor], **options: object) -> object:
        learned.append(sum(name in streams for name in batches))
        return step(batches, **options)  # type: ignore[arg-type]

    served.streams.fleet.step = counted  # type: ignore[assignment,method-assign]
    _, rounds = computed(served, works, max_delay_seconds=0.5, max_batch=8)
    assert learned == [2, 2, 2]  # windows of 8 samples in all
    assert rounds[0].streams == 5  # those that learn nothing yet did not wait
    alone = trimtab.fleet(net, "tent", window=4)
    for stream in streams:
        alone[stream](images[:3])
        alone[stream](images[3:4])
        for name, param in alone[stream].params.items():
            assert torch.allclose(served.streams.fleet[stream].params[name], param, atol=1e-5)


def test_a_stream_with_many_requests_does_not_starve_the_others(
    net: nn.Module, images: Tensor
) -> None:
    works = [Work("loud", images[:4]) for _ in range(10)] + [Work("quiet", images[:4])]
    finished: list[str] = []

    async def go() -> None:
        rounds = Rounds(service(net, images).streams, max_batch=4)

        async def one(work: Work) -> None:
            await rounds.do(work)
            finished.append(str(work.stream))

        rounds.start()
        await asyncio.gather(*(one(work) for work in works))
        await rounds.drain()

    asyncio.run(go())
    assert finished.index("quiet") <= 2


def test_what_waits_at_the_end_is_still_computed_and_saved(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    served = service(net, images, tmp_path)

    async def go() -> list[Outcome]:
        rounds = Rounds(served.streams, max_batch=2, max_delay_seconds=5)
        rounds.start()
        waiting = [
            asyncio.ensure_future(rounds.do(Work("cam", images[:2], number=number)))
            for number in range(1, 6)
        ]
        await asyncio.sleep(0)
        await rounds.drain()
        with pytest.raises(RequestError, match="shutting down"):
            await rounds.do(Work("cam", images[:2], number=9))
        return await asyncio.gather(*waiting)

    found = asyncio.run(go())
    assert [outcome.parameters["learned_through"] for outcome in found] == [1, 2, 3, 4, 5]
    assert served.streams.store is not None
    served.streams.store.close()
    assert served.streams.store.durable_through("cam") == 5


def test_idle_streams_leave_the_memory_and_old_ones_the_disk(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    limits = Limits(idle_seconds=0.01, forget_seconds=0.2)
    streams = service(net, images, tmp_path, limits=limits).streams
    assert streams.store is not None
    streams.adapter("cam")(images[:4])
    streams.touch("cam", 4)
    streams.records["cam"].used -= 1
    streams.tidy()
    assert not streams.records
    assert streams.store.flush(10)
    assert streams.adapter("cam").counters.samples == 4
    streams.records["cam"].used -= 1
    streams.tidy()
    assert streams.known == {"cam"}
    while streams.known:
        streams.tidy()
    assert list(tmp_path.glob("*.safetensors")) == []


def test_a_stream_that_has_learned_nothing_is_none_once_it_leaves_the_memory(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    for store in (None, tmp_path):
        served = service(net, images, store, limits=Limits(streams=2))
        works = [Work(f"ghost-{n}", images[:2], learn=False, end=True) for n in range(5)]
        found, _ = computed(served, works, max_batch=2)
        assert len(found) == 5  # none was one stream too many
        assert not served.streams.known
        assert not served.streams.records


def test_a_stream_that_only_predicts_is_not_forgotten_while_it_is_used(
    net: nn.Module, images: Tensor, tmp_path: Path
) -> None:
    limits = Limits(idle_seconds=60, forget_seconds=3600)
    streams = service(net, images, tmp_path, limits=limits).streams
    streams.adapter("cam")(images[:4])
    streams.touch("cam", 4)
    assert streams.store is not None
    assert streams.store.flush(10)
    path = next(tmp_path.glob("*.safetensors"))
    os.utime(path, (0, 0))  # it learned long ago
    streams.records["cam"].used -= 61  # and has predicted a minute ago
    for _ in range(2):
        streams.tidy()
        assert streams.known == {"cam"}
    assert not streams.records
    os.utime(path, (0, 0))
    streams.tidy()
    assert not streams.known
