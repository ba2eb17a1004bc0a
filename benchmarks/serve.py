"""Send requests to `syntf serve` at a fixed rate: response times, errors, memory.

    python benchmarks/serve.py                    # 200 a second for a minute
    python benchmarks/serve.py --rate 50 --seconds 10

Starts a service on loopback, or uses one that runs there (--url). A request starts when it is due,
even if earlier ones are not answered yet, and its time counts from that moment. The exit code is 1
if a request failed, if the rate was not reached, or if memory grew.
"""

import argparse
import asyncio
import csv
import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.resources import files
from urllib.parse import urlsplit

GROWTH = 24.0
"""Megabytes by which memory may vary because of buffers of current requests."""


@dataclass
class Outcome:
    """Times, errors and memory of all requests."""

    seconds: list[float] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    memory: list[float] = field(default_factory=list)

    def failed(self, kind: str) -> None:
        self.errors[kind] = self.errors.get(kind, 0) + 1


class Connections:
    """A pool of connections that are kept open and used again.

    The service closes connections that were idle for five seconds. This pool closes them after two.
    """

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._free: list[tuple[float, asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        while self._free:
            since, reader, writer = self._free.pop()
            if time.monotonic() - since < 2:
                break
            writer.close()
        else:
            reader, writer = await asyncio.open_connection(*self._address)
        try:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head.lower())
            body = await reader.readexactly(int(length.group(1)) if length else 0)
        except BaseException:
            writer.close()
            raise
        self._free.append((time.monotonic(), reader, writer))
        return int(head.split(b" ", 2)[1]), body

    async def close(self) -> None:
        for _, _, writer in self._free:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


def texts() -> list[str]:
    """Return the texts of the example corpus."""
    content = files("syntf").joinpath("data", "example.csv").read_text(encoding="utf-8")
    return [row["text"] for row in csv.DictReader(io.StringIO(content))]


def posts(host: str) -> list[bytes]:
    """Return the bytes of a request for each text."""
    made = []
    for text in texts():
        body = json.dumps({"text": text}).encode()
        head = (
            f"POST /v1/anonymize HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        made.append(head.encode() + body)
    return made


async def hold(host: str, port: int, rate: float, seconds: float) -> Outcome:
    """Send `rate` requests per second, evenly, for `seconds` seconds."""
    found, connections, ready = Outcome(), Connections(host, port), posts(host)
    loop, running = asyncio.get_running_loop(), set()
    began = loop.time()

    async def one(number: int, due: float) -> None:
        try:
            status, body = await asyncio.wait_for(connections.ask(ready[number % len(ready)]), 30)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            found.failed(type(error).__name__)
            return
        found.seconds.append(loop.time() - due)
        if status != 200 or b'"counts"' not in body:
            found.failed(str(status))

    async def watch() -> None:
        request = f"GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
        while True:
            _, body = await connections.ask(request)
            resident = re.search(rb"^process_resident_memory_bytes (\S+)", body, re.MULTILINE)
            found.memory.append(float(resident.group(1)) / 1e6 if resident else 0.0)
            await asyncio.sleep(1)

    watching = asyncio.create_task(watch())
    for number in range(round(rate * seconds)):
        due = began + number / rate
        await asyncio.sleep(max(0.0, due - loop.time()))
        task = asyncio.create_task(one(number, due))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    await connections.close()
    return found


@contextmanager
def service(options: list[str]) -> Iterator[str]:
    """Start a service in its own process and yield its address."""
    command = [sys.executable, "-m", "syntf", "serve", "--port", "0", "--rate", "1e6", "--quiet"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield line.split()[2].rstrip(";")
        finally:
            process.terminate()


def report(found: Outcome, rate: float, seconds: float, took: float) -> bool:
    """Print the outcome; return whether it meets the limits."""
    times = sorted(found.seconds)
    wanted = round(rate * seconds)
    held = len(times) / took
    print(f"{len(times):,} of {wanted:,} answered in {took:.1f} s: {held:.0f} a second")
    if times:
        shares = {"50 %": 0.5, "90 %": 0.9, "99 %": 0.99, "99.9 %": 0.999}
        for name, share in shares.items():
            print(f"  {name:>7}  {1000 * times[int(share * (len(times) - 1))]:8.1f} ms")
        print(f"  {'slowest':>7}  {1000 * times[-1]:8.1f} ms")
    print(f"errors: {found.errors or 'none'}")
    steady = found.memory[len(found.memory) // 6 :]  # after the first connections and threads
    half = len(steady) // 2
    first, last = max(steady[: half + 1]), max(steady[half:])
    print(f"memory: {first:.0f} MB at most in the first half, {last:.0f} MB in the second")
    return not found.errors and held > 0.95 * rate and last - first < GROWTH


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--url", help="address of a service that runs on loopback")
    parser.add_argument("options", nargs="*", help="options of syntf serve, after --")
    options = parser.parse_args()
    if options.url and urlsplit(options.url).hostname not in ("127.0.0.1", "localhost", "::1"):
        parser.error("--url must name a service on loopback")

    def run(url: str) -> bool:
        place = urlsplit(url)
        began = time.perf_counter()
        load = hold(place.hostname or "", place.port or 80, options.rate, options.seconds)
        found = asyncio.run(load)
        return report(found, options.rate, options.seconds, time.perf_counter() - began)

    if options.url:
        passed = run(options.url)
    else:
        with service(options.options) as url:
            passed = run(url)
    sys.exit(not passed)


if __name__ == "__main__":
    main()
