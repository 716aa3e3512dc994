"""A tiny trained net behind a running server."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from torch import Tensor, nn

import trimtab
from reference import nets
from server.running import running, service
from trimtab.server.service import Service


@pytest.fixture
def net(recorded: dict[str, Tensor]) -> nn.Module:
    return nets.trained("gn", recorded)


@pytest.fixture
def served(net: nn.Module, images: Tensor, tmp_path: Path) -> Service:
    return service(net, images, tmp_path / "store")


@pytest.fixture
def url(served: Service) -> Iterator[str]:
    with running(served) as url:
        yield url


@pytest.fixture
def client(url: str) -> Iterator[trimtab.Client]:
    with trimtab.Client(url) as client:
        yield client
