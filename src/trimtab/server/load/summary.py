"""What a load test found, as numbers, lines and a page."""

import html
import json
from typing import Any

from trimtab.server.live import percentile
from trimtab.server.load.drive import Outcome

PERCENTILES = (50, 90, 99)


def summary(outcome: Outcome) -> dict[str, Any]:
    """Throughput, latencies in milliseconds and counts of answers."""
    latencies = outcome.latencies
    return {
        "seconds": round(outcome.seconds, 2),
        "streams": outcome.streams,
        "samples": outcome.samples,
        "samples_per_second": round(outcome.samples / max(outcome.seconds, 1e-9), 1),
        "latency_ms": {
            **{f"p{p}": round(1000 * percentile(latencies, p), 1) for p in PERCENTILES},
            "max": round(1000 * max(latencies, default=0.0), 1),
        },
        "statuses": dict(sorted(outcome.statuses.items())),
        "hostile": dict(sorted(outcome.hostile.items())),
        "broken_connections": outcome.broken,
    }


def is_well(found: dict[str, Any]) -> bool:
    """Whether every honest request was answered and every hostile one refused."""
    honest = set(found["statuses"]) <= {"200", "429"}
    refused = all(kind.split(": ")[1].startswith("4") for kind in found["hostile"])
    return honest and refused and not found["broken_connections"] and found["samples"] > 0


def lines(found: dict[str, Any]) -> list[str]:
    """For a terminal."""
    latency = ", ".join(f"{name} {value:g}" for name, value in found["latency_ms"].items())
    answers = ", ".join(f"{count} x {status}" for status, count in found["statuses"].items())
    hostile = ", ".join(f"{count} x {kind}" for kind, count in found["hostile"].items())
    return [
        f"{found['samples']} samples of {found['streams']} streams in {found['seconds']:g} s: "
        f"{found['samples_per_second']:g} samples per second",
        f"latency in ms: {latency}",
        f"answers: {answers or 'none'}",
        f"hostile requests: {hostile or 'none'}",
        f"broken connections: {found['broken_connections']}",
    ]


def page(found: dict[str, Any], outcome: Outcome, title: str) -> str:
    """One HTML page: the numbers, and latency along time."""
    rows = "".join(f"<li>{html.escape(line)}</li>" for line in lines(found))
    points = _points(outcome)
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Load test</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; }}
body {{ padding: 0 1rem; }}
svg {{ width: 100%; height: auto; }}
circle {{ fill: currentColor; opacity: .35; }}
text {{ fill: currentColor; font-size: 12px; }}
pre {{ overflow-x: auto; }}
</style>
<h1>Load test</h1>
<p>{html.escape(title)}</p>
<ul>{rows}</ul>
<h2>Latency along time</h2>
<svg viewBox="0 0 640 240" role="img" aria-label="latency along time">{points}</svg>
<h2>Numbers</h2>
<pre>{html.escape(json.dumps(found, indent=2))}</pre>
</html>
"""


def _points(outcome: Outcome, most: int = 2000) -> str:
    """A dot an answer, evenly thinned out."""
    pairs = list(zip(outcome.at, outcome.latencies, strict=True))
    pairs = pairs[:: max(1, len(pairs) // most)]
    right, top = max(outcome.seconds, 1e-9), max(outcome.latencies, default=1.0)
    dots = "".join(
        f'<circle cx="{50 + 580 * at / right:.1f}" cy="{210 - 190 * late / top:.1f}" r="1.6"/>'
        for at, late in pairs
    )
    return (
        f'<text x="0" y="24">{1000 * top:.0f} ms</text><text x="0" y="214">0</text>'
        f'<text x="50" y="236">0 s</text><text x="590" y="236">{right:.0f} s</text>{dots}'
    )
