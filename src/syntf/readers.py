"""Texts from files of any size, a batch at a time.

CSV, TSV, JSON lines, Parquet, an mbox, a folder of text files, standard input; compressed or
not, one or many. Every problem with a file is one :class:`~syntf.errors.SyntfError`, which
says where and never what the text was. Bytes that are not text are replaced, never refused:
one bad document must not stop, or mark, a release.
"""

import bz2
import codecs
import csv
import glob
import gzip
import json
import lzma
import mailbox
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from hashlib import file_digest, sha256
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Literal

import polars as pl

from syntf import parquet_files
from syntf.errors import SyntfError, suggestion

BATCH = 1 << 15
"""Documents in a batch."""

COLUMNS_NAMED = 20
"""Columns that are listed where one is missing."""

STDIN = "-"
BadRows = Literal["stop", "skip"]

_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl",
             ".parquet": "parquet", ".mbox": "mbox"}  # fmt: skip
_OPENERS: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_NOT_OF_FILES = ("unicode-escape", "raw-unicode-escape", "idna", "punycode", "undefined")
"""Encodings that are Python's or the Internet's own; some warn of what they are given."""
_MALFORMED = (
    "it is not well-formed; look for an unclosed quote, a row with too many fields, or values of "
    "mixed types"
)

csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


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

    def __post_init__(self) -> None:
        self.paths = _expand(self.inputs)
        try:
            "".encode(self.encoding)
        except LookupError:
            raise SyntfError(f"no encoding is called {self.encoding!r}") from None
        except UnicodeError:
            raise SyntfError(f"no file is in the encoding {self.encoding!r}") from None
        if codecs.lookup(self.encoding).name in _NOT_OF_FILES:
            raise SyntfError(f"no file is in the encoding {self.encoding!r}")
        self.kinds = [self.format or _kind(path) for path in self.paths]
        self.size = sum(path.stat().st_size for path in self.paths if path.is_file())

    @property
    def repeatable(self) -> bool:
        """Whether the documents can be gone through again."""
        return STDIN not in map(str, self.paths)

    def texts(self) -> Iterator[str]:
        """The texts, one after the other."""
        for frame in self:
            yield from texts(frame, self.text or "text")

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """Batches of rows with the columns wanted; only the last may be short."""
        held: list[pl.DataFrame] = []
        for frame in self._all():
            held.append(frame)
            if sum(part.height for part in held) >= BATCH:
                whole = pl.concat(held, how="vertical_relaxed")
                yield whole[:BATCH]
                held = [whole[BATCH:]] if whole.height > BATCH else []
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
                raise SyntfError(f"{_name(path)} holds no rows")
            self.done = before + (path.stat().st_size if path.is_file() else 0)

    def _frames(self, path: Path, kind: str) -> Iterator[pl.DataFrame]:
        try:
            if kind == "folder":
                yield from _folder(path)
            elif kind == "parquet":
                yield from self._parquet(path)
            elif kind == "mbox":
                yield from _mbox(path)
            else:
                yield from self._stream(path, kind)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            reason = getattr(error, "strerror", None) or "it is cut short or not compressed so"
            raise SyntfError(f"cannot read {_name(path)}: {reason}") from None
        except UnicodeError:  # codecs with more to refuse than single bytes
            raise SyntfError(f"cannot read {_name(path)}: it is not {self.encoding}") from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            # The library's own message may quote a text: it is not passed on.
            raise SyntfError(f"cannot read {_name(path)}: {_MALFORMED}") from None

    def _parquet(self, path: Path) -> Iterator[pl.DataFrame]:
        if path not in self._tried and not parquet_files.survives(path, BATCH):
            raise SyntfError(f"cannot read {_name(path)}: it is not a Parquet file, or damaged")
        self._tried.add(path)
        yield from parquet_files.frames(path, BATCH)

    def _stream(self, path: Path, kind: str) -> Iterator[pl.DataFrame]:
        """CSV, TSV and JSON lines, decoded and parsed as they come."""
        encoding = "utf-8-sig" if self.encoding.lower() in ("utf-8", "utf8") else self.encoding
        given = str(path) == STDIN
        raw = os.fdopen(os.dup(sys.stdin.fileno()), "rb") if given else path.open("rb")
        with raw, _decompressed(raw, path) as plain:
            newline = "\n" if kind == "jsonl" else ""
            lines = TextIOWrapper(plain, encoding, errors="replace", newline=newline)
            start = self.done
            frames = self._json(lines, path) if kind == "jsonl" else self._csv(lines, path, kind)
            for frame in frames:
                if raw.seekable():
                    self.done = start + raw.tell()
                yield frame

    def _csv(self, lines: IO[str], path: Path, kind: str) -> Iterator[pl.DataFrame]:
        reader = csv.reader(lines, delimiter="\t" if kind == "tsv" else ",", strict=True)
        header: list[str] | None = None
        rows: list[list[str]] = []
        while True:
            start = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                if "end of data" in str(error):  # swallowed all the rest: never to be skipped
                    raise SyntfError(
                        f"cannot read {_name(path)}: the quote opened in line {start} is not closed"
                    ) from None
                self._fault(path, start, "has a quote in the wrong place")
                continue
            if not row:
                continue
            if header is None:
                header = row
                if len(set(header)) < len(header):
                    raise SyntfError(f"{_name(path)} has two columns of the same name")
            elif len(row) != len(header):
                wrong = "too many fields" if len(row) > len(header) else "too few fields"
                self._fault(path, start, f"has {wrong}: {len(row)} instead of {len(header)}")
            else:
                rows.append(row)
                if len(rows) == BATCH:
                    yield _strings(header, rows)
                    rows = []
        if header is None:
            raise SyntfError(f"{_name(path)} is empty")
        yield _strings(header, rows)

    def _json(self, lines: IO[str], path: Path) -> Iterator[pl.DataFrame]:
        rows: list[dict[str, Any]] = []
        found = False
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            found = True
            try:
                row = json.loads(line, object_hook=_whole_characters)
            except (ValueError, RecursionError):
                row = None
            if not isinstance(row, dict):
                self._fault(path, number, "is not a JSON object")
                continue
            rows.append(row)
            if len(rows) == BATCH:
                yield pl.from_dicts(rows, infer_schema_length=None, strict=False)
                rows = []
        if not found:
            raise SyntfError(f"{_name(path)} is empty")
        if rows:
            yield pl.from_dicts(rows, infer_schema_length=None, strict=False)

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
        place = f"{_name(path)}: {unit} {number} {what}"
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


def digest(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, or of the names and SHA-256 of a folder's files."""
    source = Path(path)
    if not source.is_dir():
        with source.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    lines = (f"{digest(file)} {_name(file.relative_to(source))}\n" for file in _files(source))
    return sha256("".join(lines).encode()).hexdigest()


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


def _expand(inputs: Sequence[str | Path]) -> list[Path]:
    paths: list[Path] = []
    for given in inputs:
        path = Path(given)
        if str(given) == STDIN or path.exists():
            paths.append(path)
        elif glob.has_magic(str(given)):
            found = sorted(Path(match) for match in glob.glob(str(given), recursive=True))
            if not found:
                raise SyntfError(f"no file matches {given}")
            paths.extend(found)
        else:
            raise SyntfError(f"no file or folder at {given}")
    if STDIN in map(str, paths) and len(paths) > 1:
        raise SyntfError("standard input (-) stands alone: give files or -, not both")
    known: set[tuple[int, int]] = set()
    for path in paths if str(paths[0]) != STDIN else ():
        found_at = path.stat()
        if (found_at.st_dev, found_at.st_ino) in known:
            raise SyntfError(f"{_name(path)} is given twice: its documents would lose twice")
        known.add((found_at.st_dev, found_at.st_ino))
    return paths


def stamps(path: Path) -> list[tuple[str, int, int]]:
    """What tells that a file, or any file of a folder, is not what it was: its size and time."""
    every = _files(path) if path.is_dir() else [path]
    return [(_name(one), one.stat().st_size, one.stat().st_mtime_ns) for one in every]


def _kind(path: Path) -> str:
    if str(path) == STDIN:
        raise SyntfError("say what standard input holds: --input-format csv, tsv or jsonl")
    if path.is_dir():
        return "folder"
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _OPENERS:
        suffixes.pop()
    kind = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise SyntfError(
            f"cannot tell the format of {path.name}: it must end in {', '.join(_SUFFIXES)} "
            f"({', '.join(_OPENERS)} may follow), or say it with --input-format"
        )
    return kind


def _decompressed(raw: Any, path: Path) -> Any:
    opener = _OPENERS.get(path.suffix.lower())
    return opener(raw) if opener else raw


def _strings(header: Sequence[str], rows: Sequence[Sequence[str]]) -> pl.DataFrame:
    """All columns as strings: what is kept is kept as it is, an id 007 too."""
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return pl.DataFrame(
        [pl.Series(n, [_encodable(v) for v in c], pl.String)
         for n, c in zip(header, columns, strict=True)]
    )  # fmt: skip


def _whole_characters(row: dict[str, Any]) -> dict[str, Any]:
    """Replace lone surrogates, which JSON can spell and no file can hold."""
    return {_encodable(key): _encodable(value) for key, value in row.items()}


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value


def _folder(source: Path) -> Iterator[pl.DataFrame]:
    paths = _files(source)
    if not paths:
        raise SyntfError(f"the folder {source} holds no files")
    for start in range(0, len(paths), BATCH):
        some = paths[start : start + BATCH]
        names = [_name(path.relative_to(source)) for path in some]
        bodies = [path.read_bytes().decode("utf-8", "replace") for path in some]
        yield pl.DataFrame({"path": names, "text": bodies})


def _mbox(source: Path) -> Iterator[pl.DataFrame]:
    """Messages as rows: text (the body as plain text), subject, from, date."""
    parser = BytesParser(policy=policy.default)
    names = ("subject", "from", "date")
    with closing(mailbox.mbox(source, create=False)) as box:
        keys = box.keys()
        for start in range(0, len(keys), BATCH):
            messages = [parser.parsebytes(box.get_bytes(k)) for k in keys[start : start + BATCH]]
            columns = {"text": [_body(message) for message in messages]}
            columns |= {name: [_header(message, name) for message in messages] for name in names}
            yield pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


def _body(message: EmailMessage) -> str:
    """The body of a message; markup removed where there is nothing but HTML."""
    try:
        part = message.get_body(("plain", "html"))
    except (AttributeError, KeyError, ValueError):
        part = message
    if part is None:
        return ""
    raw = part.get_payload(decode=True)
    content = raw if isinstance(raw, bytes) else b""
    charset = part.get_content_charset() or "utf-8"
    try:
        text = content.decode(charset, "replace")
    except LookupError:
        text = content.decode("latin-1")
    if part.get_content_subtype() == "html":
        text = re.sub(r"<[^>]*>", " ", text)
    return str(_encodable(text))


def _header(message: EmailMessage, name: str) -> str:
    try:
        return str(_encodable(str(message.get(name, ""))))
    except Exception:  # the parser of headers raises many things on broken ones
        return ""


def _files(source: Path) -> list[Path]:
    return sorted(path for path in source.rglob("*") if path.is_file())


def _name(path: Path) -> str:
    if str(path) == STDIN:
        return "standard input"
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")
