"""A server that really listens, in a thread of the test, on a free port of this machine."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from torch import Tensor, nn

import trimtab
from trimtab.server.app import make_server_app
from trimtab.server.service import Service
from trimtab.server.settings import Settings
from trimtab.server.store import Store
from trimtab.server.streams import Saving

MODEL = "net"


def service(
    model: nn.Module,
    images: Tensor,
    store: Path | None = None,
    *,
    method: str = "tent",
    window: int | None = None,
    journal: Any = None,
    **settings: Any,
) -> Service:
    """A served tiny net; every request is saved at once where there is a store."""
    stated = Settings(
        model=MODEL,
        method=method,
        sample_shape=tuple(images.shape[1:]),
        num_classes=7,
        **{"saving": Saving(1, 1.0), **settings},
    )
    fleet = trimtab.fleet(model, method, window=window)
    return Service(fleet, stated, None if store is None else Store(store), journal)


@contextmanager
def running(served: Service) -> Iterator[str]:
    """The server's address while it runs; it drains and saves at the end."""
    config = uvicorn.Config(
        make_server_app(served), port=0, log_config=None, access_log=False, proxy_headers=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    listening: socket.socket = server.servers[0].sockets[0]
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
