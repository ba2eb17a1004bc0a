"""Fuzz one target with atheris, which is guided by code coverage.

    python fuzz/guided.py TARGET -runs=1000

``make fuzz`` runs this for every target if atheris is installed. atheris has wheels for some Python
versions on Linux and macOS.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["syntf"]):
    from targets import TARGETS

target = next(target for target in TARGETS if target.name == sys.argv[1])


def try_input(raw: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target.run(raw, Path(folder))


with tempfile.TemporaryDirectory() as seeds:
    for number, seed in enumerate(target.seeds):
        Path(seeds, str(number)).write_bytes(seed)
    atheris.Setup([sys.argv[0], *sys.argv[2:], seeds], try_input)
    atheris.Fuzz()
