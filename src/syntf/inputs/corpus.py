"""Read texts from files of any size and format, one batch at a time.

Every problem with a file is one :class:`~syntf.core.errors.SyntfError`. It says where the problem
is and never quotes a text.
"""

import lzma
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import polars as pl

from syntf.core.errors import SyntfError
from syntf.inputs import columns, files
from syntf.inputs.encodings import Undecodable, check_encoding, codec_of, decodable, decode
from syntf.inputs.files import STDIN, check_delimiter, display_name

BATCH = 1 << 15
"""The largest number of documents in a batch."""

SIZE = 1 << 22
"""Bytes after which a batch is full, whatever the number of its documents."""

MAX_BAD_ROWS = 0.1
"""The largest share of the rows of a file that are skipped, unless another share is given."""

TRIED_ROWS = 1000
"""How many rows are read after a broken one, to tell a broken row from a wrong format."""

LISTED_ROWS = 10
"""How many skipped rows are remembered with their places."""

BadRows = Literal["stop", "skip"]

_MALFORMED = (
    "it is not well-formed; look for an unclosed quote, a row with too many fields, or values of "
    "mixed types"
)


@dataclass
class Corpus:
    """Files of documents, read in batches; more than once, unless they are standard input.

    Parameters
    ----------
    inputs : paths, patterns, or ``-`` alone for standard input.
    text : the column with the texts; None if there is none. It is read as strings, and a null as
        an empty text.
    columns : further columns to read; None for all columns.
    encoding : the encoding of text files.
    format : the format of all inputs, in place of the one that their names end in.
    undecodable : stop at bytes that do not fit the encoding, or replace them.
    delimiter : the delimiter of CSV files; None for the one that the header line has most of.
    bad_rows : stop at a broken row (wrong number of fields, bad JSON), or skip such rows.
    max_bad_rows : the largest share of the rows of a file that may be skipped.

    Attributes
    ----------
    skipped_rows : the number of broken rows skipped in the last pass.
    skipped_places : file and line of the first ten of them.
    bytes_read : the bytes read in this pass, of `size` in all.
    """

    inputs: Sequence[str | PathLike[str]]
    text: str | None = None
    columns: Sequence[str] | None = None
    encoding: str = "utf-8"
    format: str | None = None
    bad_rows: BadRows = "stop"
    delimiter: str | None = None
    undecodable: Undecodable = "stop"
    max_bad_rows: float = MAX_BAD_ROWS
    skipped_rows: int = field(default=0, init=False)
    skipped_places: list[str] = field(default_factory=list, init=False)
    bytes_read: int = field(default=0, init=False)
    _checked: set[Path] = field(default_factory=set, init=False, repr=False)
    _begun: Iterator[pl.DataFrame] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.paths = files.expand(self.inputs)
        check_encoding(self.encoding)
        self.formats = [self.format or files.format_of(path) for path in self.paths]
        if not 0 <= self.max_bad_rows <= 1:
            raise SyntfError(f"--max-bad-rows is a share from 0 to 1, not {self.max_bad_rows:g}")
        self.delimiter = check_delimiter(self.delimiter, self.formats)
        self.size = sum(path.stat().st_size for path in self.paths if path.is_file())
        self.repeatable = STDIN not in map(str, self.paths)
        """Whether the documents can be read again."""

    def texts(self) -> Iterator[str]:
        """Yield the texts, one after the other."""
        for frame in self:
            yield from columns.texts(frame, self.text or "text")

    def read_first_batch(self) -> list[str]:
        """Read one batch, which the next pass begins with, and return its texts.

        A file that is unreadable fails now.
        """
        batches = self._batches()
        first = list(islice(batches, 1))
        self._begun = chain(first, batches)
        texts: list[str] = []
        for frame in first:
            texts.extend(columns.texts(frame, self.text or "text"))
        return texts

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Yield batches of rows with the wanted columns."""
        begun, self._begun = self._begun, None
        return self._batches() if begun is None else begun

    def _batches(self) -> Iterator[pl.DataFrame]:
        held: list[pl.DataFrame] = []
        rows = size = 0
        for frame in self._frames():
            held.append(frame)
            rows += frame.height
            size += int(frame.estimated_size())
            if rows >= BATCH or size >= SIZE:
                whole = pl.concat(held)
                held = []
                yield whole[:BATCH]
                if rows > BATCH:
                    held = [whole[BATCH:]]
                rows, size = max(0, rows - BATCH), 0
        if held:
            yield pl.concat(held)

    def _frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of one file after the other, in pieces of any size."""
        self.skipped_places.clear()
        self.skipped_rows = self.bytes_read = 0
        schema: pl.Schema | None = None
        for path, format in zip(self.paths, self.formats, strict=True):
            start = self.bytes_read
            rows = 0
            skipped = self.skipped_rows
            for frame in self._read(path, format):
                try:
                    wanted = self._wanted(frame)
                except SyntfError as error:
                    which = f"{display_name(path)}: " if len(self.paths) > 1 else ""
                    likely = files.likely_format(path, format)
                    raise SyntfError(f"{which}{error}{likely and f'; {likely}'}") from None
                if schema is not None and schema != wanted.schema:
                    raise SyntfError(
                        f"{display_name(path)} has other columns, or columns of other types, than "
                        "the files before it"
                    )
                schema = wanted.schema
                rows += frame.height
                if self.bad_rows == "stop" and self.skipped_rows:
                    if rows + self.skipped_rows >= TRIED_ROWS:
                        break
                elif frame.height:
                    yield wanted
            self._check_broken_rows(path, format, rows, self.skipped_rows - skipped)
            self.bytes_read = start + (path.stat().st_size if path.is_file() else 0)

    def _check_broken_rows(self, path: Path, format: str, rows: int, broken: int) -> None:
        """Refuse a file without rows, with a broken row, or with more than may be skipped."""
        name = display_name(path)
        if not rows and not broken:
            raise SyntfError(f"{name} holds no rows")
        if not broken:
            return
        most = broken > rows
        place = self.skipped_places[0] if self.bad_rows == "stop" else name
        advice = files.format_advice(path, format) if most else ""
        share = f"{broken:,} of {rows + broken:,} rows are broken"
        if self.bad_rows == "stop":
            skip = "--bad-rows skip leaves such rows out"
            raise SyntfError(f"cannot read {place} ({f'{share}: {advice}' if most else skip})")
        if not rows:
            raise SyntfError(f"cannot read {name}: all of its {broken:,} rows are broken: {advice}")
        if broken > self.max_bad_rows * (rows + broken):
            allowed = f"and --max-bad-rows allows a share of {self.max_bad_rows:g}"
            raise SyntfError(f"cannot read {name}: {share}, {allowed}{'; ' * most}{advice}")

    def _read(self, path: Path, format: str) -> Iterator[pl.DataFrame]:
        """Yield the rows of a file, and turn every failure to read it into one message."""
        try:
            if format == "folder":
                yield from self._folder(path)
            elif format == "parquet":
                yield from self._parquet(path)
            else:
                yield from self._stream(path, format)
        except _ManyBrokenRows:
            return
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            reason = getattr(error, "strerror", None) or "it is cut short or not compressed so"
            raise SyntfError(f"cannot read {display_name(path)}: {reason}") from None
        except UnicodeError:  # raised by encodings that refuse more than single bytes
            raise SyntfError(
                f"cannot read {display_name(path)}: it is not {self.encoding}"
            ) from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            # The message of polars may quote a text: do not pass it on.
            raise SyntfError(f"cannot read {display_name(path)}: {_MALFORMED}") from None

    def _parquet(self, path: Path) -> Iterator[pl.DataFrame]:
        from syntf.inputs import parquet

        if path not in self._checked and not parquet.survives(path, BATCH):
            name = display_name(path)
            raise SyntfError(f"cannot read {name}: it is not a Parquet file, or damaged")
        self._checked.add(path)
        yield from parquet.frames(path, BATCH)

    def _stream(self, path: Path, format: str) -> Iterator[pl.DataFrame]:
        """Yield rows while a file is read; import only its reader, as some take long to load."""
        encoding = codec_of(self.encoding)
        name = display_name(path)
        with files.open_raw(path) as raw, files.decompressed(raw, path) as plain:
            if format != "mbox" and self.undecodable == "stop":
                plain = decodable(plain, encoding, name)
            if format == "mbox":
                from syntf.inputs import mbox

                read = partial(mbox.frames, plain)
            elif format == "jsonl":
                from syntf.inputs import json_lines

                self._check_json_columns(path, encoding)
                read = partial(
                    json_lines.frames, plain, encoding=encoding, columns=self._names(),
                    text=self.text,
                )  # fmt: skip
            else:
                from syntf.inputs import csv_rows

                delimiter = self.delimiter or ("\t" if format == "tsv" else None)
                read = partial(csv_rows.frames, plain, encoding=encoding, delimiter=delimiter)
            start = self.bytes_read
            for frame in read(name=name, most=BATCH, broken=partial(self._broken, name)):
                if raw.seekable():
                    self.bytes_read = start + raw.tell()
                yield frame

    def _folder(self, source: Path) -> Iterator[pl.DataFrame]:
        """Yield the files of a folder as rows: their paths and their contents."""
        paths = files.files_below(source)
        if not paths:
            raise SyntfError(f"the folder {source} holds no files")
        names: list[str] = []
        bodies: list[str] = []
        size = 0
        for path in paths:
            raw = path.read_bytes()
            names.append(display_name(path.relative_to(source)))
            codec = codec_of(self.encoding)
            bodies.append(decode(raw, codec, display_name(path), self.undecodable))
            size += len(raw)
            if len(names) == BATCH or size >= SIZE:
                yield pl.DataFrame({"path": names, "text": bodies})
                names, bodies, size = [], [], 0
        if names:
            yield pl.DataFrame({"path": names, "text": bodies})

    def _check_json_columns(self, path: Path, encoding: str) -> None:
        """Refuse a file of which no row has a wanted column, before anything else is read.

        Reading in batches cannot tell: they end by the length of texts.
        """
        wanted = self._names()
        if not self.repeatable or path in self._checked or not wanted:
            return
        from syntf.inputs import json_lines

        with files.open_raw(path) as raw, files.decompressed(raw, path) as plain:
            found = json_lines.find_columns(plain, encoding=encoding, columns=wanted)
        if found:  # otherwise the file is empty or broken, which is another message
            columns.require(wanted, found)
        self._checked.add(path)

    def _names(self) -> list[str] | None:
        """Return the columns to read, or None for all."""
        if self.columns is None:
            return None
        return list(dict.fromkeys([*([self.text] if self.text else []), *self.columns]))

    def _wanted(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the wanted columns: the texts as strings, no categories."""
        names = self._names() or frame.columns
        columns.require([*names, *([self.text] if self.text else [])], frame.columns)
        return pl.DataFrame(
            [
                columns.text_column(frame, name, self.undecodable)
                if name == self.text
                else columns.without_categories(frame[name])
                for name in names
            ]
        )

    def _broken(self, name: str, line: int, what: str) -> None:
        """Record a broken row. After many in a file that must have none, read no further."""
        self.skipped_rows += 1
        if len(self.skipped_places) < LISTED_ROWS:
            self.skipped_places.append(f"{name}: line {line} {what}")
        if self.bad_rows == "stop" and self.skipped_rows >= TRIED_ROWS:
            raise _ManyBrokenRows


class _ManyBrokenRows(Exception):
    """Enough rows of a file are broken to say so."""


def read(path: str | PathLike[str], **reader: Any) -> pl.DataFrame:
    """Read all rows of a file, or of a folder (columns ``path`` and ``text``).

    `reader` are further arguments of a :class:`Corpus`, such as ``encoding``.
    """
    return pl.concat(list(Corpus([path], **reader)))
