"""The program `syntf`, also run by `python -m syntf`."""

import atexit
import gc
import os
import sys
import threading

COLLECT_EVERY = 100_000
"""New objects between two garbage collections: objects created by imports are never garbage."""

IDLE_TIME = "4"
"""Threads of matrix products keep a core busy for 2**4 cycles, not 2**26, before they sleep."""


_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""How the C library calls the two settings."""


def keep_freed_memory() -> None:
    """Let the C library use memory again in place of returning it to the system.

    The system clears every page that it hands out, which takes longer than filling it. Arrays below
    32 MB are taken from memory that the process has, and up to 256 MB of unused memory are kept.
    """
    import ctypes  # NumPy needs it anyway

    try:
        set_option = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    set_option(_MMAP_THRESHOLD, 1 << 25)
    set_option(_TRIM_THRESHOLD, 1 << 28)


def program() -> None:
    """Run the command line and end the process."""
    gc.set_threshold(COLLECT_EVERY)
    if not {"-h", "--help", "--version"} & set(sys.argv):  # these use little memory
        keep_freed_memory()
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", IDLE_TIME)
    from syntf.cli import main

    try:
        main()
    except SystemExit as end:
        if isinstance(end.code, int):
            end_process(end.code)
        raise


# Python keeps the frames of calls in chunks of 16 KB, and asks the system for a chunk at every call
# that crosses the end of one. This size makes it reserve 256 KB at once.
program.__code__ = program.__code__.replace(co_stacksize=1 << 14)


def end_process(code: int) -> None:
    """End the process at once, unless a thread is still running or output cannot be written.

    Exit handlers run and output is flushed. Skipping Python's own shutdown, which frees every
    object, saves a tenth of a second.
    """
    if threading.active_count() > 1:
        return
    atexit._run_exitfuncs()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None if it was closed
            stream.flush()
    except OSError:  # Python reports it when it ends
        return
    os._exit(code)


if __name__ == "__main__":
    program()
