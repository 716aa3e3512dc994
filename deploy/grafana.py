"""Writes deploy/grafana.json, the dashboard of the server's metrics:  python deploy/grafana.py"""

import json
from pathlib import Path
from typing import Any

SOURCE = {"type": "prometheus", "uid": "${datasource}"}
LABELS = '{model=~"$model"}'


def rate(name: str) -> str:
    return f"sum(rate({name}{LABELS}[1m]))"


def quantile(share: float, name: str) -> str:
    return f"histogram_quantile({share}, sum by (le) (rate({name}_bucket{LABELS}[1m])))"


PANELS: list[tuple[str, str, dict[str, str]]] = [
    ("Samples per second", "short", {"samples": rate("trimtab_samples_total")}),
    (
        "Latency",
        "s",
        {
            name: quantile(share, "rest_server_requests_duration_seconds")
            for name, share in (("median", 0.5), ("p90", 0.9), ("p99", 0.99))
        },
    ),
    (
        "Answers per second",
        "short",
        {
            "good": rate("model_infer_request_success_total"),
            "{{reason}}": f"sum by (reason) (rate(model_infer_request_failure_total{LABELS}[1m]))",
            "repeated": rate("trimtab_repeated_requests_total"),
        },
    ),
    (
        "Streams",
        "short",
        {
            "in memory": f"sum(trimtab_streams_resident{LABELS})",
            "in all": f"sum(trimtab_streams_known{LABELS})",
            "source predicts": f"sum(trimtab_streams_fallen_back{LABELS})",
        },
    ),
    (
        "What guards did, per minute",
        "short",
        {
            name: f"60 * {rate(f'trimtab_guard_{name}_total')}"
            for name in ("alarms", "rollbacks", "returns")
        },
    ),
    (
        "Learning per second",
        "short",
        {
            "updates": rate("trimtab_updates_total"),
            "skipped": rate("trimtab_skipped_updates_total"),
            "resets": rate("trimtab_resets_total"),
            "refused samples": rate("trimtab_refused_samples_total"),
        },
    ),
    (
        "A fleet step",
        "s",
        {
            "computing, median": quantile(0.5, "trimtab_round_seconds"),
            "waiting, median": quantile(0.5, "trimtab_queue_seconds"),
        },
    ),
    (
        "Samples in a step, and waiting",
        "short",
        {
            "in a step, median": quantile(0.5, "trimtab_round_samples"),
            "waiting": f"sum(batch_request_queue{LABELS})",
        },
    ),
    (
        "Checkpoints",
        "short",
        {
            "written per second": rate("trimtab_checkpoints_total"),
            "failed per second": rate("trimtab_checkpoint_failures_total"),
            "waiting": f"sum(trimtab_checkpoints_waiting{LABELS})",
        },
    ),
]


def panel(place: int, title: str, unit: str, lines: dict[str, str]) -> dict[str, Any]:
    return {
        "id": place + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"h": 8, "w": 8, "x": 8 * (place % 3), "y": 8 * (place // 3)},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(65 + number), "expr": query, "legendFormat": name, "datasource": SOURCE}
            for number, (name, query) in enumerate(lines.items())
        ],
    }


def dashboard() -> dict[str, Any]:
    model = {
        "name": "model",
        "type": "query",
        "datasource": SOURCE,
        "query": "label_values(trimtab_streams_resident, model)",
        "refresh": 2,
        "includeAll": True,
        "multi": True,
    }
    source = {"name": "datasource", "type": "datasource", "query": "prometheus"}
    return {
        "title": "Trimtab",
        "uid": "trimtab",
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [source, model]},
        "panels": [panel(place, *rest) for place, rest in enumerate(PANELS)],
    }


if __name__ == "__main__":
    text = json.dumps(dashboard(), indent=2) + "\n"
    (Path(__file__).parent / "grafana.json").write_text(text)
