"""Open compressed files, and zip archives that hold one file."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from syntf.core.errors import SyntfError

if TYPE_CHECKING:  # imported only for archives
    import zipfile

COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma", ".zst": "zstd"}
"""What names of compressed files end in, and what unpacks them."""

ARCHIVE = ".zip"


@contextmanager
def unpacked(raw: IO[bytes], suffix: str, name: str) -> Iterator[Any]:
    """Give a file that reads the unpacked bytes of `raw`; its suffix says how it is packed."""
    kind = COMPRESSED.get(suffix)
    if suffix == ARCHIVE:
        import zipfile

        archive, inner = _open_archive(raw, name)
        with archive, inner:
            try:
                yield inner
            except (zipfile.BadZipFile, NotImplementedError):  # a wrong checksum, for example
                raise EOFError from None
    elif kind == "zstd":
        yield io.BufferedReader(_Zstd(raw, name))
    elif kind is not None:
        with import_module(kind).open(raw) as inner:
            yield inner
    else:
        yield raw


def inner_name(raw: IO[bytes], name: str) -> str:
    """Return the name of the only file in a zip archive."""
    archive, inner = _open_archive(raw, name)
    with archive, inner:
        return str(inner.name)


def _open_archive(raw: IO[bytes], name: str) -> tuple["zipfile.ZipFile", IO[bytes]]:
    """Open an archive and the only file in it."""
    import zipfile

    try:
        archive = zipfile.ZipFile(raw)
        return archive, archive.open(_only_file(archive, name))
    except SyntfError:
        raise
    except Exception:  # a damaged archive raises many things
        raise SyntfError(f"cannot read {name}: it is not a zip archive, or damaged") from None


def _only_file(archive: "zipfile.ZipFile", name: str) -> "zipfile.ZipInfo":
    files = [
        entry
        for entry in archive.infolist()
        if not entry.is_dir()
        and not any(part.startswith((".", "__MACOSX")) for part in entry.filename.split("/"))
    ]
    if len(files) != 1:
        raise SyntfError(
            f"cannot read {name}: a zip archive must hold one file, and it holds {len(files):,}; "
            "unpack it and give the files or their folder"
        )
    if files[0].flag_bits & 1:
        raise SyntfError(f"cannot read {name}: the file in it is encrypted; unpack it first")
    return files[0]


class _Zstd(io.RawIOBase):
    """The unpacked bytes of a file in Zstandard; unlike the package, notice if it is cut short."""

    def __init__(self, raw: IO[bytes], name: str) -> None:
        try:
            import zstandard
        except ImportError:
            raise SyntfError(f"cannot read {name}: .zst needs pip install 'syntf[files]'") from None
        self._raw = raw
        self._error = zstandard.ZstdError
        self._begin = zstandard.ZstdDecompressor().decompressobj
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
            self._frame = self._frame or self._begin()
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
