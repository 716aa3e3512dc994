"""Freed memory stays with a process that adapts, unless somebody decided otherwise."""

import os
import subprocess
import sys

import pytest

FAULTS = """
import resource, torch, trimtab
torch.set_num_threads(1)
if {kept}:
    print(trimtab.keep_freed_memory())
def tensors():
    return [torch.ones(10 * 2**20) for _ in range(2)]  # blocks of 40 MB, which glibc gives back
for _ in range(12):  # what lies between them has found its place by then
    tensors()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
tensors()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def told(script: str, **surroundings: str) -> list[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=plain | surroundings)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_the_next_tensors_take_what_was_freed() -> None:
    """Without it, each of 20,480 pages comes from the kernel anew, several at a time at best.

    Of blocks up to 32 MB it depends on where they happen to lie.
    """
    (anew,) = told(FAULTS.format(kept=False))
    done, kept = told(FAULTS.format(kept=True))
    assert done == "True"
    assert int(kept) < 100 < int(anew)


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's allocator")
def test_who_has_set_the_allocator_by_hand_is_left_alone() -> None:
    script = "import trimtab; print(trimtab.keep_freed_memory())"
    assert told(script, MALLOC_MMAP_THRESHOLD_="262144") == ["False"]
    assert told(script, MALLOC_ARENA_MAX="2") == ["True"]  # as images often do; of no matter here
    assert told(script, GLIBC_TUNABLES="glibc.malloc.trim_threshold=131072") == ["False"]
    assert told(script, GLIBC_TUNABLES="glibc.cpu.x86_shstk=off") == ["True"]
