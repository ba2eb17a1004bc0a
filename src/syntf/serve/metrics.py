"""Metrics for Prometheus: how many requests and documents, of all workers together.

*Guarantee.* No figure depends on what a text says or how long it is, as long as the request is
answered. There are no durations, and neither processor time nor memory, because these grow with the
texts. Statuses that can depend on the body of a request (a text that is too large, or one that the
ledger knows already) are one label.
"""

import mmap
from collections.abc import Iterable, Sequence

import numpy as np
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

OTHER_ROUTE = "other"
"""Label of requests that match no route: a path that a client sent is never a label."""

STATUSES = ("200", "401", "403", "404", "405", "421", "429", "500", "503", "4xx")
"""Statuses that do not depend on the body of a request, and one label for all others."""
_COLUMN = {int(status): place for place, status in enumerate(STATUSES[:-1])}

MAX_ROUTES = 32
"""Room for this many routes is shared by the workers before the routes are known."""


class Metrics(Collector):
    """Counters in memory that all workers share; each worker adds to numbers of its own.

    Parameters
    ----------
    workers : the number of workers. Make the object before they are forked.
    """

    def __init__(self, workers: int = 1) -> None:
        width = MAX_ROUTES * len(STATUSES) + 1
        memory = mmap.mmap(-1, 8 * workers * width)
        self._counts = np.frombuffer(memory, dtype=np.float64).reshape(workers, width)
        self._place: dict[str, int] = {OTHER_ROUTE: 0}
        self.worker = 0
        """The number of this worker. It must be set in each worker after it was forked."""

    def set_routes(self, routes: Sequence[str]) -> None:
        """Count each of these routes by its own label; in every worker in the same order."""
        names = [OTHER_ROUTE, *dict.fromkeys(routes)]
        self._place = {route: place for place, route in enumerate(names[:MAX_ROUTES])}

    def count_request(self, route: str | None, status: int) -> None:
        """Count one request; `route` is None if no route matched."""
        place = self._place.get(route or OTHER_ROUTE, 0)
        column = _COLUMN.get(status, len(STATUSES) - 1)
        self._counts[self.worker, place * len(STATUSES) + column] += 1

    def count_documents(self, documents: int) -> None:
        """Count documents that were released."""
        self._counts[self.worker, -1] += documents

    def collect(self) -> Iterable[Metric]:
        """Yield the sums over all workers."""
        total = self._counts.sum(axis=0)
        requests = CounterMetricFamily(
            "syntf_requests", "Requests answered.", labels=["route", "status"]
        )
        by_route = total[:-1].reshape(MAX_ROUTES, len(STATUSES)).tolist()
        for route, place in self._place.items():
            for status, count in zip(STATUSES, by_route[place], strict=True):
                if count:
                    requests.add_metric([route, status], count)
        yield requests
        yield CounterMetricFamily("syntf_documents", "Documents released.", value=float(total[-1]))
        yield GaugeMetricFamily("syntf_workers", "Processes that answer.", value=len(self._counts))

    def as_text(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(self)
        return generate_latest(registry)
