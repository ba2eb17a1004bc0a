"""Read texts from files of any size and format, one batch at a time.

Every problem with a file is one :class:`~syntf.core.errors.SyntfError`. It says where the problem
is and never quotes a text.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from syntf.core.checks import one_of
from syntf.core.errors import InputError, SyntfError, UnavailableError
from syntf.inputs import columns, files, readers
from syntf.inputs.encodings import Undecodable, check_encoding
from syntf.inputs.files import display_name
from syntf.inputs.places import STDIN, Database, Place
from syntf.inputs.rows import Rows, concatenate

if TYPE_CHECKING:
    import polars as pl

BATCH = 1 << 15
"""The largest number of documents in a batch."""

SIZE = 1 << 22
"""Bytes after which a batch is full, whatever the number of its documents."""

FIRST_ROWS = 1000
"""How many rows are looked at before a run. Batches end by bytes, so no batch must decide it."""

MAX_BAD_ROWS = 0.1
"""The largest share of the rows of a file that are skipped, unless another share is given."""

TRIED_ROWS = 1000
"""How many rows are read after a broken one, to tell a broken row from a wrong format."""

LISTED_ROWS = 10
"""How many skipped rows are remembered with their places."""

BadRows = Literal["stop", "skip"]


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
    undecodable : replace bytes that do not fit the encoding, or stop at them.
    delimiter : the delimiter of CSV files; None for the one that the header line has most of.
    bad_rows : stop at a broken row (wrong number of fields, bad JSON), or skip such rows.
    max_bad_rows : the largest share of the rows of a file that may be skipped.
    sheet : the sheet of Excel files; None for the first.
    query : the query that gives the rows of a database.
    notices : gets sentences for the owner of the texts, such as which files were left out.

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
    undecodable: Undecodable = "replace"
    max_bad_rows: float = MAX_BAD_ROWS
    sheet: str | None = None
    query: str | None = None
    notices: list[str] = field(default_factory=list)
    skipped_rows: int = field(default=0, init=False)
    skipped_places: list[str] = field(default_factory=list, init=False)
    bytes_read: int = field(default=0, init=False)
    _digests: dict[Place, bytes] = field(default_factory=dict, init=False, repr=False)
    _start: int = field(default=0, init=False, repr=False)
    _begun: Iterator[Rows] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        one_of("bad_rows", self.bad_rows, get_args(BadRows))
        one_of("undecodable", self.undecodable, get_args(Undecodable))
        if self.format is not None:
            known = [*dict.fromkeys(files.FORMATS.values()), "lines", "document"]
            one_of("input_format", self.format, known)
        self.paths = files.expand(self.inputs)
        check_encoding(self.encoding)
        self.formats = [self._format(path) for path in self.paths]
        if not 0 <= self.max_bad_rows <= 1:
            raise SyntfError(f"--max-bad-rows is a share from 0 to 1, not {self.max_bad_rows:g}")
        self.delimiter = files.check_delimiter(self.delimiter, self.formats)
        self._check_options()
        self.size = sum(map(files.size_of, self.paths))
        self.repeatable = STDIN not in map(str, self.paths)
        """Whether the documents can be read again in this run."""
        self.resumable = self.repeatable and not any(isinstance(p, Database) for p in self.paths)
        """Whether a later run can tell if the input has changed."""
        self._request = readers.Request(
            self._names(), self.text, self.encoding, self.undecodable, self.delimiter, self.sheet,
            self.query, BATCH, self._broken, self._note, self._advance,
        )  # fmt: skip

    def _format(self, place: Place) -> str:
        if isinstance(place, Database):
            return "postgresql"
        is_folder = isinstance(place, Path) and place.is_dir() and self.format is None
        return "folder" if is_folder else self.format or files.format_of(place)

    def _check_options(self) -> None:
        """Refuse options that no input can use; say how a single text file is read."""
        databases = {"sqlite", "postgresql"} & set(self.formats)
        if self.query is not None and not databases:
            raise SyntfError("--query is for databases, and the input has none")
        if self.sheet is not None and "xlsx" not in self.formats:
            raise SyntfError("--sheet is for Excel files, and the input has none")
        if STDIN in map(str, self.paths) and self.format in ("parquet", "arrow", "sqlite"):
            raise SyntfError(f"a pipe cannot hold {self.format}: give the name of the file")
        if self.formats == ["document"] and self.format is None:
            from syntf.inputs.formats.document_files import kind_of

            notice = f"{display_name(self.paths[0])} is read as one document"
            if kind_of(getattr(self.paths[0], "name", "")) == "text":
                notice += "; if every line is one, add --input-format lines"
            self._note(notice)

    def texts(self) -> Iterator[str]:
        """Yield the texts, one after the other."""
        for batch in self:
            yield from columns.texts(batch, self.text or "text")

    def read_first_texts(self, characters: int) -> list[str]:
        """Return the beginnings of the first texts: the same ones wherever batches end.

        A file that is unreadable fails now. The next pass begins with the batch that was read, if
        it held all of them.

        characters : how much of each text is returned.
        """
        batches = self._batches()
        read: list[Rows] = []
        texts: list[str] = []
        for batch in batches:
            read = [batch] if not texts else []
            some = columns.texts(batch[: FIRST_ROWS - len(texts)], self.text or "text")
            texts.extend(text[:characters] for text in some)
            if len(texts) == FIRST_ROWS:
                break
        self._begun = chain(read, batches) if read else None
        return texts

    def close(self) -> None:
        """Close connections to databases; a later pass opens new ones."""
        self._begun = None
        while self._request.connections:
            self._request.connections.popitem()[1].close()

    def __iter__(self) -> Iterator[Rows]:
        """Yield batches of rows with the wanted columns."""
        begun, self._begun = self._begun, None
        return self._batches() if begun is None else begun

    def _batches(self) -> Iterator[Rows]:
        try:
            yield from self._joined_rows()
        except UnavailableError:
            raise
        except SyntfError as error:
            raise InputError(*error.args) from None

    def _joined_rows(self) -> Iterator[Rows]:
        """Yield the rows in batches of a limited number and size."""
        held: list[Rows] = []
        rows = size = 0
        for some in self._rows():
            held.append(some)
            rows += some.height
            size += some.size
            if rows >= BATCH or size >= SIZE:
                whole = concatenate(held)
                held = []
                yield whole[:BATCH]
                if rows > BATCH:
                    held = [whole[BATCH:]]
                rows, size = max(0, rows - BATCH), 0
        if held:
            yield concatenate(held)

    def _rows(self) -> Iterator[Rows]:
        """Yield the rows of one file after the other, in pieces of any size."""
        self.skipped_places.clear()
        self.skipped_rows = self.bytes_read = 0
        types: list[tuple[str, str]] = []
        self._request.most = BATCH
        for path, format in zip(self.paths, self.formats, strict=True):
            start = self._start = self.bytes_read
            rows = 0
            skipped = self.skipped_rows
            digest = sha256() if format in ("sqlite", "postgresql") else None
            for found in readers.read(path, format, self._request):
                try:
                    wanted = self._wanted(found)
                except SyntfError as error:
                    name = f"{display_name(path)}: "
                    which = name if len(self.paths) > 1 else ""
                    noted = [one for one in self.notices if one.startswith(name)]
                    hints = [files.likely_format(path, format), *noted]
                    told = [hint.removeprefix(name) for hint in hints if hint]
                    raise SyntfError("; ".join([f"{which}{error}", *told])) from None
                if types and types != wanted.types:
                    raise SyntfError(
                        f"{display_name(path)} has other columns, or columns of other types, than "
                        "the files before it"
                    )
                types = wanted.types
                rows += found.height
                if self.bad_rows == "stop" and self.skipped_rows:
                    if rows + self.skipped_rows >= TRIED_ROWS:
                        break
                elif found.height:
                    if digest is not None:
                        digest.update("".join(map(repr, wanted.frame().rows())).encode())
                    yield wanted
            if digest is not None and self._digests.setdefault(path, digest.digest()) != (
                digest.digest()
            ):
                raise SyntfError(
                    f"the query of {display_name(path)} gives other rows, or rows in another "
                    "order, every time: end it with ORDER BY and a unique column"
                )
            self._check_broken_rows(path, format, rows, self.skipped_rows - skipped)
            self.bytes_read = start + files.size_of(path)

    def _advance(self, position: int) -> None:
        self.bytes_read = self._start + position

    def _check_broken_rows(self, path: Place, format: str, rows: int, broken: int) -> None:
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

    def _names(self) -> list[str] | None:
        """Return the columns to read, or None for all."""
        if self.columns is None:
            return None
        return list(dict.fromkeys([*([self.text] if self.text else []), *self.columns]))

    def _wanted(self, rows: Rows) -> Rows:
        """Return the wanted columns: the texts as strings, no categories."""
        names = self._names() or rows.columns
        columns.require([*names, *([self.text] if self.text else [])], rows.columns)
        wanted = {
            name: columns.text_column(rows.values[name], name, self.undecodable)
            if name == self.text
            else columns.without_categories(rows.values[name])
            for name in names
        }
        return Rows(wanted, rows.height)

    def _broken(self, name: str, line: int, what: str) -> None:
        """Record a broken row. After many in a file that must have none, read no further."""
        self.skipped_rows += 1
        if len(self.skipped_places) < LISTED_ROWS:
            subject = f"line {line}" if line else "it"
            self.skipped_places.append(f"{name}: {subject} {what}")
        if self.bad_rows == "stop" and self.skipped_rows >= TRIED_ROWS:
            raise readers.ManyBrokenRows

    def _note(self, notice: str) -> None:
        if notice not in self.notices:
            self.notices.append(notice)


def read(path: str | PathLike[str], **reader: Any) -> "pl.DataFrame":
    """Read all rows of a file, or of a folder (columns ``path`` and ``text``).

    `reader` are further arguments of a :class:`Corpus`, such as ``encoding``.
    """
    return _read_all(Corpus([path], **reader))


def name_of(input: str | PathLike[str]) -> str:
    """Return the name of an input without its folder, as the owner knows it."""
    place = files.expand([input])[0]
    return place.name if isinstance(place, Path) and str(place) != STDIN else display_name(place)


def read_texts(
    inputs: Sequence[str | PathLike[str]], text: str, reader: Mapping[str, Any]
) -> list[str]:
    """Read the texts of files into memory; `reader` are further arguments of a Corpus."""
    return columns.texts(_read_all(Corpus(inputs, text, [], **reader)), text)


def _read_all(corpus: Corpus) -> "pl.DataFrame":
    with closing(corpus):
        frame = concatenate(list(corpus)).frame()
    if corpus.skipped_rows:
        were = "row was" if corpus.skipped_rows == 1 else "rows were"
        first = corpus.skipped_places[0]
        corpus.notices.append(f"{corpus.skipped_rows:,} broken {were} left out; the first: {first}")
    return frame
