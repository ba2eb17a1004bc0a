"""What the page works on: files that were chosen, and the releases that are made from them.

All of it lies in one temporary folder that nobody else can open. A file is deleted when its release
is made, a release when the page is left, and everything when the service ends.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl

from syntf.core import entropy
from syntf.core.errors import SyntfError, TableError, printable
from syntf.core.progress import Advance, shown_by
from syntf.inputs.corpus import Reading
from syntf.release.job import Made


class Cancelled(BaseException):
    """The person cancelled a run. No part of the method catches it."""


class Upload:
    """A file that was chosen on the page.

    path, release, archive : the file, the folder of its release, and the release as one file.
    reading, head, documents : how it is read, its first rows, about how many rows it has.
    state : ``new``, ``running``, ``done``, ``failed`` or ``cancelled``.
    stage, done, total : what a run is doing, and how far it is.
    message : why a run ended without a release.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.id, self.folder = folder.name, folder
        self.path = folder / "input" / name
        self.release, self.archive = folder / "release", folder / "release.zip"
        self.reading, self.head, self.documents = Reading(), pl.DataFrame(), 0
        self.state, self.stage, self.message = "new", "", ""
        self.done = self.total = 0
        self.made: Made | None = None
        self.future: Future[None] | None = None
        self._cancelled = Event()

    def run(self, make: Callable[[], Made]) -> None:
        """Make a release. If it fails or is cancelled, nothing of it is left."""
        try:
            with shown_by(self._listen):
                self.made = make()
                with self._listen("packing", 1) as advance:
                    shutil.make_archive(str(self.release), "zip", self.folder, self.release.name)
                    advance(1)
            self.path.unlink()
            self.state = "done"
        except BaseException as error:
            self.made = None
            shutil.rmtree(self.release, ignore_errors=True)
            self.archive.unlink(missing_ok=True)
            self.message = self.plain(sentence(error))
            self.state = "cancelled" if isinstance(error, Cancelled) else "failed"

    def begin(self, submit: Callable[..., Future[None]], make: Callable[[], Made]) -> None:
        """Run in a thread."""
        if self.state in ("running", "done"):
            raise SyntfError("a release of this file was begun already: choose the file again")
        self.state, self.stage, self.message = "running", "waiting", ""
        self._cancelled.clear()
        self.future = submit(self.run, make)

    def cancel(self) -> None:
        """Stop a run at its next step."""
        self._cancelled.set()

    def discard(self) -> None:
        """Delete everything, as soon as no run uses it."""
        self.cancel()
        (self.future or _FINISHED).add_done_callback(lambda _: shutil.rmtree(self.folder, True))

    def plain(self, message: str) -> str:
        """Leave the temporary folder out of the names of files in a message."""
        return message.replace(f"{self.path.parent.as_posix()}/", "")

    @contextmanager
    def _listen(self, stage: str, total: int) -> Iterator[Advance]:
        def advance(steps: int) -> None:
            self.done += steps
            if self._cancelled.is_set():
                raise Cancelled

        self.stage, self.done, self.total = stage, 0, total
        advance(0)
        yield advance


class Desk:
    """All files of one service. Their runs follow one another."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._uploads: dict[str, Upload] = {}
        self.thread = ThreadPoolExecutor(1)

    async def receive(self, name: str, chunks: AsyncIterator[bytes]) -> Upload:
        """Write a file as it arrives."""
        if name in ("", ".", "..") or set(name) & set("/\\\0\n") or len(name.encode()) > 255:
            raise SyntfError("the name of the file cannot be used: rename the file")
        upload = Upload(self._home / entropy.system(16).hex(), name)
        self._uploads[upload.id] = upload
        upload.path.parent.mkdir(parents=True)
        try:
            with upload.path.open("wb") as file:
                async for chunk in chunks:
                    await asyncio.to_thread(file.write, chunk)
        except BaseException:
            self.discard(upload.id)
            raise
        return upload

    def find(self, id: str) -> Upload:
        if id not in self._uploads:
            raise SyntfError("the file is not here any more: choose it again")
        return self._uploads[id]

    def discard(self, id: str) -> None:
        with suppress(KeyError):
            self._uploads.pop(id).discard()

    def close(self) -> None:
        """Cancel all runs, wait until they have stopped, and delete everything."""
        for id in list(self._uploads):
            self.discard(id)
        self.thread.shutdown(cancel_futures=True)


def sentence(error: BaseException) -> str:
    """Say in one line what stopped a run. It quotes no text, as the command line does not."""
    match error:
        case SyntfError() | TableError():
            found = str(error)
        case Cancelled():
            found = "cancelled: nothing was released"
        case MemoryError():
            found = "not enough memory"
        case OSError():
            found = error.strerror or type(error).__name__
        case _:
            found = f"a bug in syntf ({type(error).__name__}): please report it"
    lines: list[Any] = [found, *getattr(error, "__notes__", [])]
    return printable(" ".join("; ".join(lines).split()))


_FINISHED: Future[None] = Future()
_FINISHED.set_result(None)
