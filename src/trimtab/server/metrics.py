"""Prometheus metrics: MLServer's names where there are some, and ours, ``trimtab_...``.

Labels are the model, the method and reasons; never a stream's id, of which there may be many.
"""

from collections.abc import Iterator
from dataclasses import asdict

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from trimtab.server.rounds import Round, Rounds

LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Counts what the server does for one model."""

    def __init__(self, model: str, method: str) -> None:
        self.registry = CollectorRegistry()
        self._labels = {"model": model, "method": method}
        self._success = self._counter("model_infer_request_success", "Requests answered")
        self._failure = Counter(
            "model_infer_request_failure",
            "Requests refused or failed, by status",
            (*self._labels, "reason"),
            registry=self.registry,
        )
        self._duration = self._histogram(
            "rest_server_requests_duration_seconds", "From request to answer", LATENCIES
        )
        self._round_seconds = self._histogram(
            "trimtab_round_seconds", "Computing one fleet step", LATENCIES
        )
        self._round_samples = self._histogram(
            "trimtab_round_samples", "Samples in one fleet step", SIZES
        )
        self._queue_seconds = self._histogram(
            "trimtab_queue_seconds", "Waiting of the oldest request of a step", LATENCIES
        )
        self._repeated = self._counter(
            "trimtab_repeated_requests", "Requests sent again, answered and not learned from"
        )

    def watch(self, rounds: Rounds) -> None:
        """Show what rounds and streams know of themselves whenever somebody asks."""
        self.registry.register(_State(self._labels, rounds))

    def answered(self, status: int, seconds: float, repeated: bool) -> None:
        """Count an answer to a request for predictions."""
        if status < 400:
            self._success.inc()
        else:
            self._failure.labels(**self._labels, reason=str(status)).inc()
        self._duration.observe(seconds)
        if repeated:
            self._repeated.inc()

    def computed(self, done: Round) -> None:
        """Count a fleet step."""
        self._round_seconds.observe(done.seconds)
        self._round_samples.observe(done.samples)
        self._queue_seconds.observe(done.waited)

    def text(self) -> bytes:
        """All of it in Prometheus' text format."""
        return generate_latest(self.registry)

    def _counter(self, name: str, what: str) -> Counter:
        made = Counter(name, what, (*self._labels,), registry=self.registry)
        return made.labels(**self._labels)

    def _histogram(self, name: str, what: str, buckets: tuple[float, ...]) -> Histogram:
        made = Histogram(name, what, (*self._labels,), buckets=buckets, registry=self.registry)
        return made.labels(**self._labels)


class _State(Collector):
    """Numbers that others keep, read when they are asked for."""

    def __init__(self, labels: dict[str, str], rounds: Rounds) -> None:
        self._names, self._values = list(labels), list(labels.values())
        self._rounds = rounds

    def collect(self) -> Iterator[Metric]:
        streams = self._rounds.streams
        yield self._gauge("batch_request_queue", "Samples that wait", self._rounds.queued_samples)
        resident = len(streams.records)
        yield self._gauge("trimtab_streams_resident", "Streams in memory", resident)
        yield self._gauge("trimtab_streams_known", "Streams in all", len(streams.known))
        for name, value in asdict(streams.totals).items():
            yield self._total(f"trimtab_{name}", f"{name.replace('_', ' ')} of all streams", value)
        for name, value in streams.acts.items():
            yield self._total(f"trimtab_guard_{name}", f"guards' {name}", value)
        healths = [record.health for record in list(streams.records.values())]
        by_source = sum(health.get("predicting") == "source" for health in healths)
        yield self._gauge("trimtab_streams_fallen_back", "The source predicts", by_source)
        store = streams.store
        if store is not None:
            yield self._gauge("trimtab_checkpoints_waiting", "States to write", store.waiting)
            yield self._total("trimtab_checkpoints", "States written", store.written)
            yield self._total("trimtab_checkpoint_failures", "Failed writes", store.failures)

    def _gauge(self, name: str, what: str, value: float) -> GaugeMetricFamily:
        family = GaugeMetricFamily(name, what, labels=self._names)
        family.add_metric(self._values, value)
        return family

    def _total(self, name: str, what: str, value: float) -> CounterMetricFamily:
        family = CounterMetricFamily(name, what, labels=self._names)
        family.add_metric(self._values, value)
        return family
