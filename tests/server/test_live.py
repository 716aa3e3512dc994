"""What the live page is told of the last minutes."""

from trimtab.server.live import Live


def test_seconds_in_which_all_was_refused_have_no_latency() -> None:
    now = [1000.0]
    live = Live(lambda: now[0])
    live.answered(0, 0.001, failed=True)
    now[0] = 1001.0
    live.answered(0, 0.001, failed=True)
    for latency in (0.25, 0.5):
        live.answered(2, latency, failed=False)
    refused, mixed = live.seconds()
    assert (refused["requests"], refused["errors"], refused["samples"]) == (1, 1, 0)
    assert (refused["median_ms"], refused["p99_ms"]) == (None, None)
    assert (mixed["requests"], mixed["errors"], mixed["samples"]) == (3, 1, 4)
    assert (mixed["median_ms"], mixed["p99_ms"]) == (500.0, 500.0)
