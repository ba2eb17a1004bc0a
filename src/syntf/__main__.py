"""`python -m syntf`, and `syntf`: the command line as a process of its own."""

import atexit
import gc
import os
import sys
import threading

OBJECTS = 100_000
"""New objects before garbage is looked for: what a command loads is none, and there is much."""


def program() -> None:
    """Run the command, and end."""
    gc.set_threshold(OBJECTS)
    from syntf.cli import main

    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int):
            leave(end.code)
        raise


def leave(code: int) -> None:
    """End at once where nothing is at work any more, and all that was to be said has been.

    Otherwise Python takes everything in memory apart, object by object: a tenth of a second.
    """
    if threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # either may be closed
            stream.flush()
    except OSError:  # Python tells at its end
        return
    os._exit(code)


if __name__ == "__main__":
    program()
