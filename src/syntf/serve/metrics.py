"""What Prometheus may know: how many requests, how long, how many documents; nothing of a text."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

OTHER = "other"
"""The route of whatever matched none: a path that someone sent is never a label."""


class Metrics:
    """Counters of one service, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._requests = Counter(
            "syntf_requests", "Requests answered.", ["route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "syntf_request_seconds",
            "Seconds from a request to the end of its answer.",
            ["route"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
            registry=self._registry,
        )
        self._documents = Counter(
            "syntf_documents", "Documents that words were drawn for.", registry=self._registry
        )

    def answered(self, route: str | None, status: int, seconds: float) -> None:
        """One request more."""
        self._requests.labels(route or OTHER, str(status)).inc()
        self._seconds.labels(route or OTHER).observe(seconds)

    def drawn(self, documents: int) -> None:
        """Words were drawn for so many documents more."""
        self._documents.inc(documents)

    def text(self) -> bytes:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self._registry)
