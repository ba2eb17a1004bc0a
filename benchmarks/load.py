"""Send requests over many connections as fast as they are answered: a load generator.

    python benchmarks/load.py http://127.0.0.1:8470 --connections 200 --seconds 5

Every connection sends its next request when its last one was answered. The texts are those of the
example corpus, one in each request. Prints one line of JSON: the requests, their times, the errors,
and the processor time of this process, which shares the cores with the service.
"""

import argparse
import csv
import io
import json
import select
import socket
import sys
import time
from collections import Counter
from importlib.resources import files
from urllib.parse import urlsplit

LENGTH = b"content-length: "


class Connection:
    """One connection that is kept open, with at most one request on its way."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""
        self.wanted = 0
        self.began = 0.0

    def send(self, request: bytes) -> None:
        self.received, self.wanted = b"", 0
        self.began = time.perf_counter()
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Read what has arrived; return whether it is the whole answer."""
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionResetError
        self.received = self.received + part if self.received else part
        if not self.wanted:
            end = self.received.find(b"\r\n\r\n")
            if end < 0:
                return False
            place = self.received.find(LENGTH, 0, end) + len(LENGTH)
            length = int(self.received[place : self.received.find(b"\r\n", place)])
            self.wanted = end + 4 + length
        return len(self.received) >= self.wanted


def texts() -> list[str]:
    """Return the texts of the example corpus."""
    content = files("syntf").joinpath("data", "example.csv").read_text(encoding="utf-8")
    return [row["text"] for row in csv.DictReader(io.StringIO(content))]


class Requests:
    """The bytes of requests, one for each text in turn; with `ids`, each names a new document."""

    def __init__(self, host: str, ids: str | None, compressed: bool) -> None:
        more = "Accept-Encoding: gzip\r\n" if compressed else ""
        self._ids = ids
        self._count = 0
        self._parts = []
        for text in texts():
            body = json.dumps({"text": text})
            if ids is not None:
                body = body[:-1] + ', "id": "'
            body_length = len(body) + (0 if ids is None else len(self._end()))
            head = (
                f"POST /v1/anonymize HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
                f"{more}Content-Length: {body_length}\r\n\r\n"
            )
            self._parts.append(head.encode() + body.encode())

    def _end(self) -> bytes:
        return f'{self._ids} {self._count:012}"}}'.encode()

    def __next__(self) -> bytes:
        self._count += 1
        part = self._parts[self._count % len(self._parts)]
        return part if self._ids is None else part + self._end()


def load(
    url: str, connections: int, seconds: float, ids: str | None, compressed: bool
) -> dict[str, object]:
    """Keep all connections busy for a time; return what happened."""
    place = urlsplit(url)
    host, port = place.hostname or "", place.port or 80
    requests = Requests(host, ids, compressed)
    opened = [Connection(host, port) for _ in range(connections)]
    by_number = {connection.socket.fileno(): connection for connection in opened}
    poll = select.epoll()
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    times: list[float] = []
    errors: Counter[str] = Counter()
    busy, began = time.process_time(), time.perf_counter()
    end = began + seconds
    for connection in opened:
        connection.send(next(requests))
    while by_number:
        ready = poll.poll(30)
        if not ready:
            errors["no answer for 30 seconds"] += len(by_number)
            break
        for number, _ in ready:
            connection = by_number[number]
            try:
                if not connection.receive():
                    continue
            except OSError as error:
                errors[type(error).__name__] += 1
                poll.unregister(number)
                del by_number[number]
                continue
            now = time.perf_counter()
            times.append(now - connection.began)
            status = connection.received[9:12]
            if status != b"200":
                errors[status.decode("latin-1")] += 1
            if now < end:
                connection.send(next(requests))
            else:
                poll.unregister(number)
                del by_number[number]
    took = time.perf_counter() - began
    times.sort()
    shares = (0.5, 0.9, 0.99, 1.0)
    return {
        "requests": len(times),
        "seconds": took,
        "client_seconds": time.process_time() - busy,
        "errors": dict(errors),
        "milliseconds": [1000 * times[int(share * (len(times) - 1))] for share in shares],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("url", help="address of the service, on loopback")
    parser.add_argument("--connections", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--ids", help="give each document an id that begins with this word")
    parser.add_argument("--gzip", action="store_true", help="ask for compressed answers")
    options = parser.parse_args()
    if urlsplit(options.url).hostname not in ("127.0.0.1", "localhost", "::1"):
        parser.error("the address must be on loopback")
    found = load(options.url, options.connections, options.seconds, options.ids, options.gzip)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
