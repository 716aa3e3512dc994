"""Files: where states and manifests go, and what killed writers leave."""

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from torch import Tensor

import trimtab
from reference import nets
from trimtab.core.files import write_whole


@pytest.fixture
def adapter(recorded: dict[str, Tensor], images: Tensor) -> trimtab.Adapter:
    adapter = trimtab.adapt(nets.trained("gn", recorded), "tent")
    adapter(images[:8])
    return adapter


@pytest.mark.parametrize("name", ["state.json", "state", "config.safetensors", "cam.v1", "a.b.c"])
def test_a_state_and_its_manifest_overwrite_nothing_else(
    name: str, adapter: trimtab.Adapter, tmp_path: Path
) -> None:
    mine = tmp_path / "config.json"
    mine.write_text("mine")
    adapter.save(tmp_path / name)
    assert mine.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        {"config.json", name, f"{name}.json"}
    )
    adapter.load(tmp_path / name)


def test_states_of_two_versions_have_a_manifest_each(
    adapter: trimtab.Adapter, tmp_path: Path, images: Tensor
) -> None:
    adapter.save(tmp_path / "cam.v1")
    adapter(images[:8])
    adapter.save(tmp_path / "cam.v2")
    first, second = (trimtab.read_manifest(tmp_path / f"cam.v{n}") for n in (1, 2))
    assert (first["counters"]["samples"], second["counters"]["samples"]) == (8, 16)
    assert (tmp_path / "cam.v1.json").read_text() != (tmp_path / "cam.v2.json").read_text()


@pytest.mark.parametrize("mask", [0o077, 0o022, 0o002])
def test_a_new_file_has_the_permissions_that_the_process_gives(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        write_whole(tmp_path / "file", b"content")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o666 & ~mask


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "file", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_a_killed_writer_has_left_is_swept_away(tmp_path: Path) -> None:
    path = tmp_path / "file[1]"
    code = (
        "import sys, time; from trimtab.core.files import written_whole\n"
        f"with written_whole({str(path)!r}) as part:\n"
        "    part.write_bytes(b'half'); print('ready', flush=True); time.sleep(60)"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    write_whole(path, b"meanwhile")
    assert len(list(tmp_path.glob(".*.part"))) == 1  # another writer's, which is alive
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    write_whole(path, b"whole")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"whole"


def test_a_write_does_not_list_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take longer and longer, the more streams a store has."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the folder was listed")

    for owner, name in ((os, "scandir"), (os, "listdir"), (Path, "glob"), (Path, "iterdir")):
        monkeypatch.setattr(owner, name, refuse)
    for content in (b"one", b"two"):
        write_whole(tmp_path / "file", content)
        assert (tmp_path / "file").read_bytes() == content


def test_writers_of_one_file_at_a_time_leave_one_whole_file(tmp_path: Path) -> None:
    path, contents = tmp_path / "file", [bytes([number]) * 4096 for number in range(8)]

    def write(content: bytes) -> None:
        for _ in range(20):
            write_whole(path, content)

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() in contents


def test_all_that_killed_writers_have_left_is_swept_away(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f".file.{number}.part").write_bytes(b"much longer than what comes")
    write_whole(tmp_path / "file", b"whole")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"whole"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x.to("meta"), "got a meta tensor"),
        (lambda x: x.to_sparse(), r"must be dense, got torch\.sparse_coo"),
        (lambda x: x.as_subclass(type("Mine", (Tensor,), {})), "must be a plain tensor, got Mine"),
        (lambda x: x.numpy(), r"must be a tensor, .* got ndarray"),
        (lambda x: x.to(torch.complex64), r"must be torch\.float32, got torch\.complex64"),
    ],
)
def test_tensors_of_other_kinds_are_refused(
    make: object, message: str, adapter: trimtab.Adapter, images: Tensor
) -> None:
    batch = make(images[:4])  # type: ignore[operator]
    for call in (adapter, adapter.predict):
        with pytest.raises(ValueError, match=message):
            call(batch)


def test_parameters_are_tensors_too(adapter: trimtab.Adapter, images: Tensor) -> None:
    twin = adapter.clone()
    parameter = torch.nn.Parameter(images[:4].clone())
    assert torch.equal(adapter(parameter), twin(images[:4]))
    assert parameter.grad is None
