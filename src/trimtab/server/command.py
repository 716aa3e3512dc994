"""``trimtab serve``: an adapting model behind the Open Inference Protocol."""

import argparse

from trimtab.server.listening import address, listen, port_number
from trimtab.server.options import add_options, options_of
from trimtab.server.sole import sole_server_of

NEEDED = "trimtab serve needs its extra: pip install 'trimtab[serve]'"
DRAIN_SECONDS = 30
KEEP_ALIVE_SECONDS = 75


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="default: %(default)s")
    parser.add_argument(
        "--port", type=port_number, default=8080, help="default: %(default)s; 0: any free"
    )
    parser.add_argument("--log-level", default="info", choices=("debug", "info", "warning"))
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="serve on a Ray cluster; 'local' starts one here"
    )
    parser.add_argument("--replicas", type=int, default=2, help="on the cluster (default: 2)")
    add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until SIGTERM or Ctrl-C; then drain, save and end."""
    try:
        import fastapi  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise ValueError(NEEDED) from error
    from trimtab.server.logs import write_to_stderr

    write_to_stderr(args.log_level)
    if args.ray is not None:
        from trimtab.server.ray import serve_forever

        return serve_forever(
            options_of(args), args.replicas, address=args.ray, host=args.host, port=args.port
        )
    with sole_server_of(args.store):
        return _serve_here(args)


def _serve_here(args: argparse.Namespace) -> int:
    """Serve in this process."""
    import uvicorn

    from trimtab.server.app import make_server_app
    from trimtab.server.building import make_service

    service = make_service(options_of(args))
    config = uvicorn.Config(
        make_server_app(service),
        log_config=None,
        access_log=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    if args.host not in ("127.0.0.1", "::1", "localhost") and not args.tokens:
        print("trimtab: everybody who reaches this address may use all streams; see --tokens")
    with listen(args.host, args.port) as listening:
        where = address(args.host, listening)
        print(f"trimtab: {service.settings.model} with {args.method} at {where}", flush=True)
        uvicorn.Server(config).run(sockets=[listening])
    return 0
