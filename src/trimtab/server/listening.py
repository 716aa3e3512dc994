"""Where the server listens: a socket that is bound before anybody is told of its address."""

import argparse
import socket

PORTS = range(65536)


def port_number(text: str) -> int:
    """A port of the command line; 0 stands for any free one."""
    if not (text.isdecimal() and int(text) in PORTS):
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to {PORTS[-1]}, got {text!r}")
    return int(text)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at the host's first address, IPv4 where it has one."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, address = min(
            ((family, where) for family, _, _, _, where in found),
            key=lambda known: known[0] != socket.AF_INET,
        )
        return socket.create_server(address, family=family)
    except OSError as error:
        why = (error.strerror or str(error)).partition(" (")[0]
        raise ValueError(
            f"cannot listen at {host}:{port}: {why}; choose another --host or --port (0: any free)"
        ) from error


def address(host: str, listening: socket.socket) -> str:
    """The URL of a server that listens there, by the name that it was asked for."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listening.getsockname()[1]}"
