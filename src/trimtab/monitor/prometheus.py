"""Gauges of a stream's health for Prometheus: ``pip install 'trimtab[prometheus]'``."""

import re
from typing import Any

from trimtab.core.guard.health import Health
from trimtab.monitor.needs import missing


class PrometheusGauges:
    """Keeps a gauge for each number of a stream's health, labelled by the stream.

    Args:
        stream: Tells streams apart.
        registry: Of ``prometheus_client``; by default its own, which its server shows.
    """

    def __init__(self, stream: str, registry: Any = None) -> None:
        try:
            import prometheus_client
        except ImportError as error:
            raise missing("prometheus", error) from error
        self.stream = stream
        self._registry = registry or prometheus_client.REGISTRY
        self._gauge: Any = prometheus_client.Gauge
        self._shown: set[str] = set()

    def __call__(self, health: Health) -> None:
        numbers = {f"trimtab_{_word(name)}": value for name, value in health.numbers().items()}
        for name, value in numbers.items():
            self._named(name).labels(self.stream).set(value)
        for name in self._shown - numbers.keys():  # no longer known, so no longer to be shown
            self._named(name).remove(self.stream)
        self._shown = set(numbers)

    def _named(self, name: str) -> Any:
        """The gauge of this name, which streams share."""
        known = getattr(self._registry, GAUGES, None)
        if known is None:
            known = {}
            setattr(self._registry, GAUGES, known)
        if name not in known:
            known[name] = self._gauge(name, "Of a stream.", ["stream"], registry=self._registry)
        return known[name]


GAUGES = "trimtab_gauges"
"""Attribute of a registry that holds the gauges made in it."""


def _word(name: str) -> str:
    return re.sub(r"\W", "_", name)
