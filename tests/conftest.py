"""What every test stands on: one thread, and the recorded numbers."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

# Some virtual machines advertise matrix units that they do not have; half-precision kernels of
# oneDNN then die of an illegal instruction. Has to be said before torch is imported.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE")
# One small network is compiled in all tests: processes for it, each of which imports torch, and
# headers compiled beforehand would take longer than its kernels.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
os.environ.setdefault("TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0")

import pytest

from selection import NORMS, Case, chosen

# Nothing here imports torch at once: the process that hands tests out to others needs none.
if TYPE_CHECKING:
    from torch import Tensor

    from reference.nets import Net


def pytest_configure(config: pytest.Config) -> None:
    """Sums are added in one order, so equal means bit-equal."""
    hands_out = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    if not hands_out:
        import torch

        from trimtab import keep_freed_memory

        keep_freed_memory()
        torch.set_num_threads(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick",
        action="store_true",
        help="each test on one kind of norm layer only, and a part of what is checked by discovery",
    )


@pytest.hookimpl(optionalhook=True)  # single files are also run without xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two processes more than cores: some wait for browsers, servers and processes they killed.

    With --quick one more, since few wait and each has its own start.
    """
    return (os.cpu_count() or 1) + (1 if config.getoption("--quick") else 2)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is slow comes first, so that no process ends alone with it.

    With --quick, all but one kind of norm of each test are left out, and some of many cases.
    """
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
    if config.getoption("--quick"):
        cases = [_case(item) for item in items]
        kept = chosen(cases)
        pairs = list(zip(items, cases, strict=True))
        config.hook.pytest_deselected(items=[item for item, case in pairs if case not in kept])
        items[:] = [item for item, case in pairs if case in kept]


def _case(item: pytest.Item) -> Case:
    """A test apart from the kind of norm it is run on."""
    file, function = item.path.name, item.nodeid.partition("[")[0]
    if not hasattr(item, "callspec"):
        return Case(file, function, "")
    values, words = item.callspec.params, item.callspec.id.split("-")
    case = values.get("case", (values.get("norm"),))
    norm = case[-1] if isinstance(case, tuple) and case else None
    if norm not in NORMS or norm not in words:
        return Case(file, function, "-".join(words))
    words.remove(norm)
    return Case(file, function, "-".join(words), norm)


@pytest.fixture(scope="session")
def recorded() -> "dict[str, Tensor]":
    """Numbers of the public reference code; see tests/reference/README.md."""
    from safetensors.torch import load_file

    return load_file(Path(__file__).parent / "reference" / "golden.safetensors")


@pytest.fixture(scope="session")
def images(recorded: "dict[str, Tensor]") -> "Tensor":
    """96 images, (96, 3, 16, 16) in [0, 1]."""
    from reference import nets

    return nets.images(recorded).flatten(0, 1)


@pytest.fixture(params=["bn", "gn", "ln"])
def norm(request: pytest.FixtureRequest) -> str:
    """Each kind of norm layer in turn."""
    return str(request.param)


@pytest.fixture
def model(norm: str, recorded: "dict[str, Tensor]") -> "Net":
    """A trained tiny net with that kind of norm layer."""
    from reference import nets

    return nets.trained(norm, recorded)
