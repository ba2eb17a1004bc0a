"""Read one input of any format in pieces, by the reader of that format."""

import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntf.core.errors import SyntfError, UnavailableError, polars_errors
from syntf.inputs import columns, files
from syntf.inputs.encodings import UTF_8, Undecodable, codec_of, decodable, marked_encoding
from syntf.inputs.files import display_name
from syntf.inputs.places import STDIN, Database, Place, local_copy
from syntf.inputs.rows import Rows

if TYPE_CHECKING:  # imported by the readers that need it
    import polars as pl

_MALFORMED = (
    "it is not well-formed; look for an unclosed quote, a row with too many fields, or values of "
    "mixed types"
)
_OF_TEXT = ("csv", "tsv", "jsonl", "json", "lines")
"""Formats of which a whole file is in one encoding."""
_MARKED = ("csv", "tsv", "jsonl", "json")
"""Formats whose files do not begin with a text, so that no text can pass for a byte order mark."""


class ManyBrokenRows(Exception):
    """Enough rows of a file are broken to say so; the file is read no further."""


@dataclass
class Request:
    """What to read from every input, and how.

    Parameters
    ----------
    columns : the columns to read; None for all.
    text : the column with the texts.
    most : the largest number of rows in a piece.
    broken : called with a name, a line (0 for none) and what is wrong, at every broken row.
    note : called with sentences for the owner of the texts.
    advance : called with the bytes of the current file that were read.
    checked : the inputs that were tried before they are read; shared by all passes.
    connections : connections to databases; shared by all passes.
    """

    columns: list[str] | None
    text: str | None
    encoding: str
    undecodable: Undecodable
    delimiter: str | None
    sheet: str | None
    query: str | None
    most: int
    broken: Callable[[str, int, str], None]
    note: Callable[[str], None]
    advance: Callable[[int], None]
    checked: set[Place] = field(default_factory=set)
    connections: dict[Place, Any] = field(default_factory=dict)


def read(place: Place, format: str, request: Request) -> Iterator[Rows]:
    """Yield the rows of an input, and turn every failure to read it into one message."""
    name = display_name(place)
    try:
        for found in _read(place, format, request):
            yield found if isinstance(found, Rows) else Rows.of(found)
    except ManyBrokenRows:
        return
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        # Damaged packed files raise errors without a number, some of them an OSError.
        kind = UnavailableError if getattr(error, "errno", None) else SyntfError
        reason = getattr(error, "strerror", None) or "it is cut short or not compressed so"
        raise kind(f"cannot read {name}: {reason}") from None
    except UnicodeError:  # raised by encodings that refuse more than single bytes
        raise SyntfError(f"cannot read {name}: it is not {request.encoding}") from None
    except polars_errors():
        # The message of polars may quote a text: do not pass it on.
        raise SyntfError(f"cannot read {name}: {_MALFORMED}") from None


def _read(place: Place, format: str, request: Request) -> "Iterator[pl.DataFrame | Rows]":
    """Yield the rows of an input; import only its reader, as some take long to load."""
    if isinstance(place, Database):
        from syntf.inputs.formats.databases import PostgreSQL

        connection = request.connections.setdefault(place, PostgreSQL(place))
        yield from connection.frames(request.query)
    elif format == "folder" and isinstance(place, Path):
        yield from _folder(place, request)
    elif format == "document":
        yield from _document(place, request)
    elif format in ("parquet", "arrow"):
        with local_copy(place) as path:
            yield from _columnar(place, path, format, request)
    elif format == "sqlite":
        from syntf.inputs.formats import databases

        with local_copy(place) as path:
            yield from databases.sqlite_frames(
                path, query=request.query, name=display_name(place), most=request.most
            )
    else:
        yield from _stream(place, format, request)


def _columnar(place: Place, path: Path, format: str, request: Request) -> "Iterator[pl.DataFrame]":
    from syntf.inputs.formats import parquet

    if place not in request.checked and not parquet.survives(path, request.most, format):
        kind = "a Parquet file" if format == "parquet" else "an Arrow file (Feather version 2)"
        raise SyntfError(f"cannot read {display_name(place)}: it is not {kind}, or damaged")
    request.checked.add(place)
    yield from parquet.frames(path, request.most, format)


def _stream(place: Place, format: str, request: Request) -> "Iterator[pl.DataFrame | Rows]":
    """Yield rows while a file is read."""
    name = display_name(place)
    codec = codec_of(request.encoding)
    if format in _MARKED and codec == UTF_8 and str(place) != STDIN:
        with files.open_raw(place) as raw, files.unpack(raw, place) as plain:
            marked = marked_encoding(plain.read(4))
        if marked is not None:
            codec = marked
            request.note(f"{name} is read as {marked}, by its byte order mark")
    if format == "jsonl":
        _check_json_columns(place, request, codec)
    with files.open_raw(place) as raw, files.unpack(raw, place) as plain:
        if format in _OF_TEXT and request.undecodable == "stop":
            plain = decodable(plain, codec, name)
        for frame in _reader(plain, format, request, codec, place):
            if not raw.closed and raw.seekable():
                request.advance(raw.tell())
            yield frame


def _reader(
    plain: Any, format: str, request: Request, codec: str, place: Place
) -> "Iterator[pl.DataFrame] | Iterator[Rows]":
    name = display_name(place)
    most, broken = request.most, partial(request.broken, name)
    if format == "mbox":
        from syntf.inputs.formats import mbox

        return mbox.frames(plain, name=name, most=most, broken=broken)
    if format in ("jsonl", "json"):
        from syntf.inputs.formats import json_lines

        return json_lines.frames(
            plain, name=name, encoding=codec, columns=request.columns, text=request.text,
            most=most, broken=broken, array=format == "json",
        )  # fmt: skip
    if format == "xlsx":
        from syntf.inputs.formats import excel

        return excel.frames(plain, name=name, sheet=request.sheet, most=most, note=request.note)
    if format == "lines":
        from syntf.inputs.formats import lines

        return lines.frames(plain, encoding=codec, most=most)
    from syntf.inputs.formats import csv_rows

    delimiter = request.delimiter or ("\t" if format == "tsv" else None)
    return csv_rows.frames(
        plain, name=name, encoding=codec, delimiter=delimiter, most=most, broken=broken,
        likely=partial(files.likely_format, place, format),
    )  # fmt: skip


def _check_json_columns(place: Place, request: Request, codec: str) -> None:
    """Refuse a file of which no row has a wanted column, before anything else is read.

    Reading in batches cannot tell: they end by the length of texts.
    """
    if str(place) == STDIN or place in request.checked or not request.columns:
        return
    from syntf.inputs.formats import json_lines

    with files.open_raw(place) as raw, files.unpack(raw, place) as plain:
        found = json_lines.find_columns(plain, encoding=codec, columns=request.columns)
    if found:  # otherwise the file is empty or broken, which is another message
        columns.require(request.columns, found)
    request.checked.add(place)


def _folder(folder: Path, request: Request) -> Iterator[Rows]:
    """Yield the documents of a folder as rows: their paths and their texts."""
    from syntf.inputs.formats.folder import list_folder

    listing = list_folder(folder)
    if left_out := listing.notice(folder):
        request.note(left_out)
    yield from _documents(
        ((path, kind, display_name(path.relative_to(folder))) for path, kind in listing.documents),
        request,
    )


def _document(place: Place, request: Request) -> Iterator[Rows]:
    """Yield a single file as a row: its name and its text."""
    from syntf.inputs.formats import document_files

    name = getattr(place, "name", "")
    kind = document_files.kind_of(name) or "text"
    document_files.require_installed(kind, display_name(place))
    yield from _documents([(place, kind, Path(name).name)], request)


def _documents(found: Any, request: Request) -> Iterator[Rows]:
    from syntf.inputs.formats import document_files

    paths: list[str] = []
    texts: list[str] = []
    size = 0
    codec = codec_of(request.encoding)
    for place, kind, shown in found:
        name = display_name(place)
        with files.open_raw(place) as raw, files.unpack(raw, place) as plain:
            content = plain.read()
        try:
            text = document_files.read_document(
                content, kind, name=name, codec=codec, undecodable=request.undecodable
            )
        except document_files.DamagedDocument as error:
            request.broken(name, 0, str(error))
            continue
        paths.append(display_name(Path(shown)))
        texts.append(text)
        size += len(text)
        if len(texts) == request.most or size >= 1 << 22:
            yield Rows({"path": paths, "text": texts}, len(texts))
            paths, texts, size = [], [], 0
    if texts:
        yield Rows({"path": paths, "text": texts}, len(texts))
