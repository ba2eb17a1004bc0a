"""Metrics for Prometheus: numbers of requests and documents, and durations; no texts."""

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

OTHER_ROUTE = "other"
"""Label of requests that match no route: a path that a client sent is never a label."""


class Metrics:
    """Counters of one service, in their own registry."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._requests = Counter(
            "syntf_requests", "Requests answered.", ["route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "syntf_request_seconds",
            "Seconds from the start of a request to the end of its answer.",
            ["route"],
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
            registry=self._registry,
        )
        self._documents = Counter(
            "syntf_documents", "Documents that words were drawn for.", registry=self._registry
        )

    def count_request(self, route: str | None, status: int, seconds: float) -> None:
        """Count one request; `route` is None if no route matched."""
        self._requests.labels(route or OTHER_ROUTE, str(status)).inc()
        self._seconds.labels(route or OTHER_ROUTE).observe(seconds)

    def count_documents(self, documents: int) -> None:
        """Count documents that words were drawn for."""
        self._documents.inc(documents)

    def as_text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
