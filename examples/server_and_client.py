"""A server and a client: every camera has a stream of its own, behind one network.

    trimtab serve --store streams/ &        # elsewhere, for good
    python examples/server_and_client.py http://127.0.0.1:8080

Without an address it starts a server for itself on a free port, in a thread.
"""

import argparse
import sys
import threading
import time

import uvicorn

import trimtab
from trimtab.server.app import make_server_app
from trimtab.server.building import make_service
from trimtab.server.options import add_options, options_of


def started() -> tuple[uvicorn.Server, threading.Thread, str]:
    """A server in a thread, and its address."""
    parser = argparse.ArgumentParser()
    add_options(parser)  # the options of `trimtab serve`
    service = make_service(options_of(parser.parse_args(["--method", "roid", "--window", "32"])))
    server = uvicorn.Server(uvicorn.Config(make_server_app(service), port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    return server, thread, f"http://127.0.0.1:{port}"


def ask(address: str) -> None:
    """Two cameras in turn; the second one's batches do not change what the first one learns."""
    _, stream = trimtab.load_demo(images_per_domain=4, batch_size=20)
    with trimtab.Client(address) as client:
        for number, batch in enumerate(stream, start=1):
            camera = f"camera-{number % 2}"
            pixels = batch.inputs.mul(255).byte().numpy()
            answer = client.infer(pixels, stream=camera, number=number)  # sent twice, learned once
            print(camera, answer.logits.argmax(1)[:8], "learned:", answer.learned)
        print([found["id"] for found in client.streams()])
        client.reset("camera-0")
        client.delete("camera-1")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        ask(sys.argv[1])
    else:
        server, thread, address = started()
        try:
            ask(address)
        finally:
            server.should_exit = True
            thread.join()
