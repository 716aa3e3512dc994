"""Ray Serve: one model on several machines, each stream at home on one replica.

A shard is a deployment with one replica. States are in a folder that all machines share, so when
a replica is killed, the one that Ray starts in its place, on whichever machine, goes on from the
checkpoints.

``trimtab serve --ray ADDRESS`` starts it; ``serve run trimtab.server.ray:app`` does the same with
the options in ``$TRIMTAB_SERVE``, a JSON object.
"""

import json
import logging
import os
import signal
import threading
from typing import Any

from ray import serve

from trimtab.server.options import Options, default_options
from trimtab.server.shards import Ingress, Shard

ENVIRONMENT = "TRIMTAB_SERVE"
APP = "trimtab"


def build(options: Options, shards: int) -> Any:
    """The Ray Serve application: an ingress and so many shards."""
    if options["store"] is None:
        raise ValueError("on a cluster states need --store, a folder that all machines share")
    limits = {name: options[name] for name in ("body_bytes", "body_seconds")}
    homes = [
        serve.deployment(
            name=f"shard-{place}",
            num_replicas=1,
            max_ongoing_requests=1000,
            graceful_shutdown_timeout_s=30,
            health_check_period_s=2,
        )(Shard).bind(options, place)
        for place in range(shards)
    ]
    front = serve.deployment(name="ingress", max_ongoing_requests=1000)(Ingress)
    return front.bind(limits, *homes)


def app(arguments: dict[str, str]) -> Any:
    """For ``serve run trimtab.server.ray:app``: options come from ``$TRIMTAB_SERVE``."""
    words = json.loads(os.environ.get(ENVIRONMENT, "{}")) | arguments
    shards = int(words.pop("replicas", 2))
    return build(default_options(**words), shards)


def serve_forever(options: Options, shards: int, *, address: str, host: str, port: int) -> int:
    """Serve on a cluster until SIGTERM or Ctrl-C."""
    import ray

    ray.init(
        address=None if address == "local" else address,
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
        runtime_env={"env_vars": {"OMP_NUM_THREADS": str(options["threads"])}},
    )
    serve.start(http_options={"host": host, "port": port})
    serve.run(build(options, shards), name=APP, route_prefix="/")
    print(f"trimtab: {shards} replicas behind http://{host}:{port}", flush=True)
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    try:
        ended.wait()
    except KeyboardInterrupt:
        pass
    finally:
        serve.shutdown()  # type: ignore[no-untyped-call]
        ray.shutdown()
    return 0
