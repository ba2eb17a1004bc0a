"""Texts from files of any size, a batch at a time.

CSV, TSV, JSON lines, Parquet, an mbox, a folder of text files, standard input; compressed or
not, one or many. Every problem with a file is one :class:`~syntf.core.errors.SyntfError`, which
says where and never what the text was. Bytes that are not text are replaced, never refused:
one bad document must not stop, or mark, a release.
"""

import codecs
import lzma
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Literal

import polars as pl

from syntf.core.characters import UTF_8
from syntf.core.errors import SyntfError, suggestion
from syntf.inputs import csv_rows, json_lines, parquet
from syntf.inputs import paths as input_paths
from syntf.inputs.paths import STDIN, shown

BATCH = 1 << 15
"""Documents in a batch, at most."""

SIZE = 1 << 22
"""Bytes after which a batch is full, whatever the number of its documents."""

COLUMNS_NAMED = 20
"""Columns that are listed where one is missing."""

BadRows = Literal["stop", "skip"]

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_NOT_OF_FILES = ("unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined")
"""Encodings that are Python's or the Internet's own; some warn of what they are given."""
_MALFORMED = (
    "it is not well-formed; look for an unclosed quote, a row with too many fields, or values of "
    "mixed types"
)


@dataclass
class Corpus:
    """Files of documents, to be gone through in batches, more than once if they are files.

    inputs : paths, globs, or ``-`` for standard input (alone).
    text : the column that must hold a text in every row; None to ask for nothing.
    columns : further columns wanted; None for all there are.
    encoding : of text formats; UTF-8 unless said otherwise.
    format : in place of what the names end in; needed for standard input.
    bad_rows : what to do with a row that is broken (wrong number of fields, bad JSON, no text).

    Attributes: `skipped`, broken rows left out in the last pass, located; `done`, the bytes gone
    through, of `size` in all.
    """

    inputs: Sequence[str | Path]
    text: str | None = None
    columns: Sequence[str] | None = None
    encoding: str = "utf-8"
    format: str | None = None
    bad_rows: BadRows = "stop"
    skipped: list[str] = field(default_factory=list, init=False)
    bad: int = field(default=0, init=False)
    done: int = field(default=0, init=False)
    _tried: set[Path] = field(default_factory=set, init=False, repr=False)
    _begun: Iterator[pl.DataFrame] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.paths = input_paths.expand(self.inputs)
        try:
            "".encode(self.encoding)
        except LookupError:
            raise SyntfError(f"no encoding is called {self.encoding!r}") from None
        except UnicodeError:
            raise SyntfError(f"no file is in the encoding {self.encoding!r}") from None
        if codecs.lookup(self.encoding).name in _NOT_OF_FILES:
            raise SyntfError(f"no file is in the encoding {self.encoding!r}")
        self.kinds = [self.format or input_paths.kind(path) for path in self.paths]
        self.size = sum(path.stat().st_size for path in self.paths if path.is_file())

    @property
    def repeatable(self) -> bool:
        """Whether the documents can be gone through again."""
        return STDIN not in map(str, self.paths)

    def texts(self) -> Iterator[str]:
        """The texts, one after the other."""
        for frame in self:
            yield from texts(frame, self.text or "text")

    def peek(self) -> None:
        """Read the first batch, with which the next pass begins: a file that cannot be is told."""
        batches = self._batches()
        first = list(islice(batches, 1))
        self._begun = chain(first, batches)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Batches of rows with the columns wanted, all but the last one full."""
        begun, self._begun = self._begun, None
        return self._batches() if begun is None else begun

    def _batches(self) -> Iterator[pl.DataFrame]:
        held: list[pl.DataFrame] = []
        rows = size = 0
        for frame in self._all():
            held.append(frame)
            rows += frame.height
            size += int(frame.estimated_size())
            if rows >= BATCH or size >= SIZE:
                whole = pl.concat(held, how="vertical_relaxed")
                held = []
                yield whole[:BATCH]
                if rows > BATCH:
                    held = [whole[BATCH:]]
                rows, size = max(0, rows - BATCH), 0
        if held:
            yield pl.concat(held, how="vertical_relaxed")

    def _all(self) -> Iterator[pl.DataFrame]:
        """The rows of one file after the other, in pieces as they come."""
        self.skipped.clear()
        self.bad = self.done = 0
        names: list[str] | None = None
        for path, kind in zip(self.paths, self.kinds, strict=True):
            before = self.done
            rows = 0
            for frame in self._frames(path, kind):
                wanted = self._wanted(frame)
                if names is not None and names != wanted.columns:
                    raise SyntfError(f"{path} has other columns than the files before it")
                names = wanted.columns
                rows += frame.height
                yield from self._with_text(wanted, path, rows - frame.height)
            if not rows and not self.bad:
                raise SyntfError(f"{shown(path)} holds no rows")
            self.done = before + (path.stat().st_size if path.is_file() else 0)

    def _frames(self, path: Path, kind: str) -> Iterator[pl.DataFrame]:
        try:
            if kind == "folder":
                yield from _folder(path)
            elif kind == "parquet":
                yield from self._parquet(path)
            elif kind == "mbox":
                # Imported here: what reads mail takes long to load, and few need it.
                from syntf.inputs import mbox

                yield from mbox.frames(path, BATCH)
            else:
                yield from self._stream(path, kind)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            reason = getattr(error, "strerror", None) or "it is cut short or not compressed so"
            raise SyntfError(f"cannot read {shown(path)}: {reason}") from None
        except UnicodeError:  # codecs with more to refuse than single bytes
            raise SyntfError(f"cannot read {shown(path)}: it is not {self.encoding}") from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            # The library's own message may quote a text: it is not passed on.
            raise SyntfError(f"cannot read {shown(path)}: {_MALFORMED}") from None

    def _parquet(self, path: Path) -> Iterator[pl.DataFrame]:
        if path not in self._tried and not parquet.survives(path, BATCH):
            raise SyntfError(f"cannot read {shown(path)}: it is not a Parquet file, or damaged")
        self._tried.add(path)
        yield from parquet.frames(path, BATCH)

    def _stream(self, path: Path, kind: str) -> Iterator[pl.DataFrame]:
        """CSV, TSV and JSON lines, decoded and parsed as they come."""
        encoding = UTF_8 if self.encoding.lower() in ("utf-8", "utf8") else self.encoding
        read = (
            json_lines.frames
            if kind == "jsonl"
            else partial(csv_rows.frames, delimiter=_DELIMITERS[kind])
        )
        fault = partial(self._fault, path)
        with input_paths.opened(path) as raw, input_paths.decompressed(raw, path) as plain:
            start = self.done
            for frame in read(plain, name=shown(path), encoding=encoding, most=BATCH, fault=fault):
                if raw.seekable():
                    self.done = start + raw.tell()
                yield frame

    def _wanted(self, frame: pl.DataFrame) -> pl.DataFrame:
        asked = [self.text] if self.text is not None else []
        if self.columns is None:
            require(frame, asked)
            return frame
        names = list(dict.fromkeys([*asked, *self.columns]))
        require(frame, names)
        return pl.DataFrame([frame[name] for name in names])

    def _with_text(self, frame: pl.DataFrame, path: Path, before: int) -> Iterator[pl.DataFrame]:
        """The rows that have a text."""
        if self.text is not None and frame[self.text].null_count():
            empty = frame[self.text].is_null()
            for row in empty.arg_true().to_list():
                self._fault(path, before + row + 1, "has no text", "row")
            frame = frame.filter(~empty)
        if frame.height:
            yield frame

    def _fault(self, path: Path, number: int, what: str, unit: str = "line") -> None:
        place = f"{shown(path)}: {unit} {number} {what}"
        if self.bad_rows == "stop":
            raise SyntfError(f"cannot read {place} (--bad-rows skip leaves such rows out)")
        self.bad += 1
        if len(self.skipped) < 10:
            self.skipped.append(place)


def read(path: str | Path) -> pl.DataFrame:
    """All rows of a file, or of a folder (columns ``path`` and ``text``)."""
    return pl.concat(list(Corpus([path])), how="vertical_relaxed")


def texts(frame: pl.DataFrame, column: str) -> list[str]:
    """The texts of a column, empty where there is none."""
    require(frame, [column])
    values = frame[column]
    if values.dtype == pl.Binary:
        return [(value or b"").decode("utf-8", "replace") for value in values.to_list()]
    try:
        if not values.dtype.is_nested():
            return values.cast(pl.String).fill_null("").to_list()
    except pl.exceptions.PolarsError:
        pass  # no text form, as for durations
    # The kind alone: the fields of a structure and the values of an enumeration are data.
    raise SyntfError(f"column {column!r} holds {values.dtype.base_type()}, not text")


def names(frame: pl.DataFrame, column: str) -> list[str]:
    """Ids or authors: the same name whatever else is in the column, or refused.

    A column of whole numbers with a gap, or with one decimal, is read as decimals: 17 stays 17.
    """
    require(frame, [column])
    values = frame[column]
    if values.dtype == pl.Boolean:
        raise SyntfError(f"column {column!r} holds true and false: these name nobody")
    if not values.dtype.is_float():
        return texts(frame, column)
    whole = values.drop_nulls().drop_nans()
    if not ((whole == whole.floor()) & (whole.abs() < 2**53)).all():
        raise SyntfError(f"column {column!r} holds decimals: names must be whole numbers or text")
    return values.fill_nan(None).cast(pl.Int64).cast(pl.String).fill_null("").to_list()


def require(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse columns that are not there, and name those that are, if these are names."""
    for column in columns:
        if column not in frame.columns:
            there = "its first line is none of names"
            if all(map(_is_name, frame.columns)):
                named = ", ".join(frame.columns[:COLUMNS_NAMED])
                if len(frame.columns) > COLUMNS_NAMED:
                    named += f" and {len(frame.columns) - COLUMNS_NAMED} more"
                there = f"the columns are: {named}{suggestion(column, frame.columns)}"
            raise SyntfError(f"no column {column!r}; {there}")


def _is_name(column: str) -> bool:
    """Whether this can head a column. A file without a header begins with a text: not shown."""
    return len(column) <= 40 and len(column.split()) <= 4 and column.isprintable()


def _folder(source: Path) -> Iterator[pl.DataFrame]:
    paths = input_paths.within(source)
    if not paths:
        raise SyntfError(f"the folder {source} holds no files")
    names: list[str] = []
    bodies: list[str] = []
    size = 0
    for path in paths:
        raw = path.read_bytes()
        names.append(shown(path.relative_to(source)))
        bodies.append(raw.decode("utf-8", "replace"))
        size += len(raw)
        if len(names) == BATCH or size >= SIZE:
            yield pl.DataFrame({"path": names, "text": bodies})
            names, bodies, size = [], [], 0
    if names:
        yield pl.DataFrame({"path": names, "text": bodies})
