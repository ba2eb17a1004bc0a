"""Unpack compressed files, and zip archives that hold one file, while they are read."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Iterator
from typing import IO, Any

from syntf.core.errors import SyntfError
from syntf.core.extras import needed_for

COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
ARCHIVE = ".zip"


def unpacked(raw: IO[bytes], suffix: str, name: str) -> io.BufferedReader:
    """Return a file that reads the unpacked bytes of `raw`; its suffix says how it is packed."""
    by_suffix: dict[str, Callable[[Any], Any]] = {
        ".gz": gzip.open,
        ".bz2": bz2.open,
        ".xz": lzma.open,
        ".zst": lambda file: _Zstandard(file, name),
        ARCHIVE: lambda file: open_archive(file, name),
    }
    return io.BufferedReader(by_suffix.get(suffix, lambda file: file)(raw))


def open_archive(raw: IO[bytes], name: str) -> IO[bytes]:
    """Open the only file in a zip archive, beside hidden files and those of macOS."""
    try:
        archive = zipfile.ZipFile(raw)
        hidden = (".", "__MACOSX")
        files = [
            entry
            for entry in archive.infolist()
            if not entry.is_dir()
            and not any(part.startswith(hidden) for part in entry.filename.split("/"))
        ]
        if len(files) == 1:
            return archive.open(files[0])
    except Exception:  # a damaged or encrypted archive raises many things
        raise SyntfError(f"cannot read {name}: it is no zip archive, damaged, or locked") from None
    raise SyntfError(
        f"cannot read {name}: a zip archive must hold one file, and it holds {len(files):,}; "
        "unpack it and give the files or their folder"
    )


class _Zstandard(io.RawIOBase):
    """The unpacked bytes of a file in Zstandard; unlike the package, notice if it is cut short."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        with needed_for(f"reading {name}", "files"):
            import zstandard
        self._parts = self._unpack(raw, zstandard)
        self._plain = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while not self._plain and (part := next(self._parts, None)) is not None:
            self._plain = part
        taken = self._plain[: len(into)]
        self._plain = self._plain[len(taken) :]
        into[: len(taken)] = taken
        return len(taken)

    @staticmethod
    def _unpack(raw: IO[bytes], zstandard: Any) -> Iterator[bytes]:
        packed = raw.read(1 << 16)
        while packed:
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                try:
                    yield frame.decompress(packed)
                except zstandard.ZstdError:
                    raise EOFError from None
                packed = frame.unused_data or raw.read(1 << 16)
                if not packed and not frame.eof:
                    raise EOFError
