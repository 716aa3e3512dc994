"""Checkpoints in a folder: whole, the latest, and only while they may be written."""

import errno
import threading
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor, nn

import trimtab
from trimtab.core import saved
from trimtab.server import store as storing
from trimtab.server.store import Store


@pytest.fixture
def state(net: nn.Module, images: Tensor) -> dict[str, Any]:
    adapter = trimtab.adapt(net, "tent")
    adapter(images[:4])
    return adapter.state_dict()


def numbered(state: dict[str, Any], number: int) -> dict[str, Any]:
    return {**state, "learned_through": number}


def test_what_is_put_can_be_got_at_once_and_is_durable_later(
    state: dict[str, Any], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    store.put("Cam-1", numbered(state, 7))
    found = store.get("Cam-1")
    assert found is not None
    assert found["learned_through"] == 7
    assert store.flush(10)
    assert store.durable_through("Cam-1") == 7
    store.close()
    assert Store(tmp_path).streams() == ["Cam-1"]


def test_of_states_that_wait_only_the_latest_is_written(
    state: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, written = threading.Event(), []
    plain = saved.write

    def slowly(path: Path, content: dict[str, Any], **options: bool) -> None:
        gate.wait(10)
        written.append(content["learned_through"])
        plain(path, content, **options)

    monkeypatch.setattr(saved, "write", slowly)
    store = Store(tmp_path)
    for number in range(1, 50):
        store.put("cam", numbered(state, number))
    gate.set()
    assert store.flush(10)
    assert written[-1] == 49
    assert len(written) <= 2
    store.close()


def test_a_full_disk_is_tried_again_and_nothing_is_called_durable(
    state: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter([OSError(errno.ENOSPC, "No space left on device")] * 2)
    plain = saved.write

    def failing(path: Path, content: dict[str, Any], **options: bool) -> None:
        error = next(failures, None)
        if error is not None:
            raise error
        plain(path, content, **options)

    monkeypatch.setattr(saved, "write", failing)
    monkeypatch.setattr(storing, "RETRY_SECONDS", 0.05)
    store = Store(tmp_path)
    store.put("cam", numbered(state, 3))
    assert store.durable_through("cam") is None
    assert store.flush(10)
    assert store.failures == 2
    assert store.durable_through("cam") == 3
    store.close()


def test_a_deleted_stream_is_not_brought_back_by_a_write_that_waited(
    state: dict[str, Any], tmp_path: Path
) -> None:
    store = Store(tmp_path)
    for _ in range(20):
        store.put("cam", state)
        store.delete("cam")
    assert store.flush(10)
    assert store.get("cam") is None
    assert list(tmp_path.glob("*.safetensors")) == []
    store.close()


def test_whoever_lost_the_folder_writes_no_more(state: dict[str, Any], tmp_path: Path) -> None:
    mine = [True]
    store = Store(tmp_path, may_write=lambda: mine[0])
    store.put("cam", numbered(state, 1))
    assert store.flush(10)
    mine[0] = False
    store.put("cam", numbered(state, 2))
    assert store.flush(10)
    assert store.durable_through("cam") == 1
    manifest = store.manifest("cam")
    assert manifest is not None
    assert manifest["learned_through"] == 1
    store.close()
