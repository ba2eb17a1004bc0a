"""Read texts from files of any size and format, one batch at a time, in one pass.

Nothing is read twice, so an input that changes meanwhile cannot give a document twice. A problem
with a *container* (no such column, a file of another format, an archive cut short) is one
:class:`~syntf.core.errors.SyntfError`, which says where the problem is and never quotes a text. The
*content* of a field stops nothing: whether a document exists never depends on its text.
"""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from pathlib import Path

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs.columns import as_texts, require, without_categories
from syntf.inputs.databases import read_postgresql, read_sqlite
from syntf.inputs.documents import Document, list_folder, read_documents, single_document
from syntf.inputs.encodings import codec_of, marked_codec
from syntf.inputs.excel import read_excel
from syntf.inputs.formats import format_of
from syntf.inputs.json_rows import read_json
from syntf.inputs.mail import read_mbox
from syntf.inputs.packed import unpacked
from syntf.inputs.places import Place, expand, plain_errors
from syntf.inputs.separated import read_csv
from syntf.inputs.tables import BATCH, SIZE, read_columnar, read_lines

_MARKED = ("csv", "tsv", "jsonl", "json")
"""Formats whose files do not begin with a text, so that no text can pass for a byte order mark."""


@dataclass(frozen=True)
class Reading:
    """How inputs are read.

    Parameters
    ----------
    input_format : the format of all inputs, in place of the one that their names end in.
    encoding : the encoding of text files. Bytes that do not fit are replaced.
    delimiter : the delimiter of CSV files; None for the one that the header line has most of.
    sheet : the sheet of Excel files; None for the first.
    query : the query that gives the rows of a database.
    """

    input_format: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    sheet: str | None = None
    query: str | None = None


AS_NAMED = Reading()
"""Read inputs as their names say."""


@dataclass
class _Input:
    """One file, database or folder, or several single documents."""

    place: Place
    format: str
    documents: list[Document]


class Corpus:
    """Documents, read once, in batches.

    Parameters
    ----------
    inputs : paths, patterns or addresses, or ``-`` alone for standard input.
    text : the column with the texts, which is read as strings; None, with all columns, if it
        is not chosen yet.
    columns : further columns to read, with their types; None for all columns.
    reading : how the inputs are read.

    Attributes
    ----------
    notices : sentences for the owner of the texts, such as which files were left out.
    size : the bytes of all inputs; 0 if they are not known.
    bytes_read : how many of them were read.
    """

    def __init__(
        self,
        inputs: str | PathLike[str] | Sequence[str | PathLike[str]],
        text: str | None = "text",
        columns: Sequence[str] | None = (),
        reading: Reading = AS_NAMED,
    ) -> None:
        self.notices: list[str] = []
        self.bytes_read = 0
        self._text = text
        self._needed = [] if text is None else [text]
        self._wanted = None if columns is None else list(dict.fromkeys([*self._needed, *columns]))
        self._reading = reading
        self._codec = codec_of(reading.encoding)
        self._inputs: list[_Input] = []
        for place in expand([inputs] if isinstance(inputs, str | PathLike) else inputs):
            format = format_of(place, reading.input_format)
            if format == "folder":
                documents = list_folder(Path(place.address), self._note)
            else:
                documents = [single_document(place)] if format == "document" else []
            if format == "document" and self._inputs and self._inputs[-1].format == format:
                self._inputs[-1].documents += documents
            else:
                self._inputs.append(_Input(place, format, documents))
        self._delimiter = self._checked_delimiter()
        alone = self._inputs[0].format == "document" and len(self._inputs[0].documents) == 1
        if alone and reading.input_format is None:
            self._note(
                f"{self._inputs[0].place.shown} is read as one document; if every line of a text "
                "is one, add --input-format lines"
            )
        self._sizes = [
            sum(place.size() for place, _ in one.documents or [(one.place, "")])
            for one in self._inputs
        ]
        self.size = sum(self._sizes)
        self._source = self._batches()
        self._first: list[pl.DataFrame] = []

    def head(self, rows: int = 1000) -> pl.DataFrame:
        """Return the first rows; :meth:`batches` yields them nevertheless."""
        while sum(frame.height for frame in self._first) < rows:
            frame = next(self._source, None)
            if frame is None:
                break
            self._first.append(frame)
        return pl.concat(self._first).head(rows)  # never none: an input without rows is refused

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield all rows with the wanted columns, once. A null text is an empty text."""
        return chain(self._first, self._source)

    def close(self) -> None:
        """Close files and connections; nothing can be read afterwards."""
        self._source.close()

    def _checked_delimiter(self) -> str | None:
        """Refuse options that no input can use, and return the delimiter as one character."""
        given, formats = self._reading, {one.format for one in self._inputs}
        for option, value, used_by, described in (
            ("--query", given.query, {"sqlite", "postgresql"}, "databases"),
            ("--sheet", given.sheet, {"xlsx"}, "Excel files"),
            ("--delimiter", given.delimiter, {"csv", "tsv"}, "CSV files"),
        ):
            if value is not None and not formats & used_by:
                raise SyntfError(f"{option} is for {described}, and the input has none")
        character = {"tab": "\t", "\\t": "\t"}.get(given.delimiter or "", given.delimiter)
        if character is not None and (
            len(character) != 1 or not character.isascii() or character in '"\r\n\0'
        ):
            raise SyntfError("a delimiter is one ASCII character, such as ; or tab")
        return character

    def _note(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)

    def _batches(self) -> Generator[pl.DataFrame]:
        """Join the rows of small inputs; check that all inputs have rows of the same columns."""
        held: list[pl.DataFrame] = []
        rows = size = 0
        schema: pl.Schema | None = None
        for one, all_bytes in zip(self._inputs, self._sizes, strict=True):
            end, empty = self.bytes_read + all_bytes, True
            try:
                for frame in map(self._selected, self._frames(one)):
                    if frame.schema != (schema or frame.schema):
                        raise SyntfError("its columns, or their types, are not those of the first")
                    schema, empty = frame.schema, empty and not frame.height
                    held.append(frame)
                    rows, size = rows + frame.height, size + int(frame.estimated_size())
                    if rows >= BATCH or size >= SIZE:
                        yield pl.concat(held)
                        held, rows, size = [], 0, 0
                if empty:
                    raise SyntfError(f"{one.place.shown} holds no rows")
            except SyntfError as error:
                raise self._explained(error, one) from None
            self.bytes_read = end
        if held:
            yield pl.concat(held)

    def _frames(self, one: _Input) -> Iterator[pl.DataFrame]:
        """Yield the rows of one input in frames of any size."""
        place, format, query = one.place, one.format, self._reading.query
        if one.documents:
            yield from read_documents(one.documents, self._codec, self._note)
        elif format == "postgresql":
            yield from read_postgresql(place, query)
        elif format == "sqlite":
            with place.local() as path:
                yield from read_sqlite(path, place.shown, query)
        elif format in ("parquet", "arrow"):
            before, all_bytes = self.bytes_read, place.size()
            with plain_errors(place), place.local() as path, path.open("rb") as file:
                for share, frame in read_columnar(file, place.shown, format, self._wanted):
                    self.bytes_read = before + int(share * all_bytes)
                    yield frame
        else:
            yield from self._stream(place, format)

    def _stream(self, place: Place, format: str) -> Iterator[pl.DataFrame]:
        """Yield rows while the bytes of a file are read and unpacked."""
        name, codec, before = place.shown, self._codec, self.bytes_read
        with plain_errors(place), place.open() as raw, unpacked(raw, place.suffix, name) as plain:
            marked = marked_codec(plain.peek(4), codec) if format in _MARKED else codec
            if marked != codec:
                codec = marked
                self._note(f"{name} is read as {marked}, by its byte order mark")
            note = self._note
            if format == "mbox":
                frames = read_mbox(plain, name)
            elif format == "xlsx":
                frames = read_excel(plain, name, self._reading.sheet, note)
            elif format == "lines":
                frames = read_lines(plain, codec)
            elif format in ("json", "jsonl"):
                array = format == "json"
                frames = read_json(plain, codec, name, self._wanted, self._needed, array, note)
            else:
                delimiter = self._delimiter or ("\t" if format == "tsv" else None)
                frames = read_csv(plain, codec, name, delimiter, note)
            try:
                for frame in frames:
                    if raw.seekable():
                        self.bytes_read = before + raw.tell()
                    yield frame
            except UnicodeError:  # UTF-16 without a byte order mark
                raise SyntfError(f"cannot read {name}: it is not {codec}") from None

    def _selected(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the wanted columns: the texts as strings, and no categories."""
        names = self._wanted or frame.columns
        require([*names, *self._needed], frame.columns)
        return pl.DataFrame(
            [
                as_texts(frame[name]) if name == self._text else without_categories(frame[name])
                for name in names
            ]
        )

    def _explained(self, error: SyntfError, one: _Input) -> SyntfError:
        """Return an error with the name of the input, and what else is known about it."""
        name = one.place.shown
        which = f"{name}: " if len(self._inputs) > 1 and name not in str(error) else ""
        told = [note.removeprefix(f"{name}: ") for note in self.notices if note.startswith(name)]
        return type(error)("; ".join([f"{which}{error}", *told]))
