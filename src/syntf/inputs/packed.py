"""Unpack compressed files, and zip archives that hold one file, while they are read."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable
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
    """Open the only file in a zip archive."""
    try:
        archive = zipfile.ZipFile(raw)
        files = [
            entry
            for entry in archive.infolist()
            if not entry.is_dir()
            and not any(part.startswith((".", "__MACOSX")) for part in entry.filename.split("/"))
        ]
        if len(files) == 1:
            return archive.open(files[0])
    except RuntimeError:
        raise SyntfError(f"cannot read {name}: the file in it is encrypted: unpack it") from None
    except Exception:  # a damaged archive raises many things
        raise SyntfError(f"cannot read {name}: it is not a zip archive, or damaged") from None
    raise SyntfError(
        f"cannot read {name}: a zip archive must hold one file, and it holds {len(files):,}; "
        "unpack it and give the files or their folder"
    )


class _Zstandard(io.RawIOBase):
    """The unpacked bytes of a file in Zstandard; unlike the package, notice if it is cut short."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        with needed_for(f"reading {name}", "files"):
            import zstandard
        self._raw = raw
        self._error = zstandard.ZstdError
        self._new_frame = zstandard.ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._packed = self._plain = b""

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        while not self._plain:
            self._packed = self._packed or self._raw.read(1 << 16)
            if not self._packed:
                if self._frame is not None:
                    raise EOFError
                return 0
            self._frame = self._frame or self._new_frame()
            try:
                self._plain = self._frame.decompress(self._packed)
            except self._error:
                raise EOFError from None
            self._packed = b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        taken = self._plain[: len(into)]
        self._plain = self._plain[len(taken) :]
        into[: len(taken)] = taken
        return len(taken)
