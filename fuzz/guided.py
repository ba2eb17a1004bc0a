"""Fuzzing guided by coverage: one target, so many inputs, with atheris.

``python fuzz/guided.py TARGET -runs=1000``; ``make fuzz`` does it for every target where atheris
is installed (Linux and macOS, the Python versions it has wheels for).
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["syntf"]):
    from targets import TARGETS

target = next(one for one in TARGETS if one.name == sys.argv[1])


def take(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target.run(raw, Path(folder))


with tempfile.TemporaryDirectory() as seeds:
    for number, seed in enumerate(target.seeds):
        Path(seeds, str(number)).write_bytes(seed)
    atheris.Setup([sys.argv[0], *sys.argv[2:], seeds], take)
    atheris.Fuzz()
