"""Texts from files: CSV, TSV, JSON lines, Parquet, or a folder of text files.

Every problem with a file is one :class:`~syntf.errors.SyntfError`. Bytes that are not
UTF-8 are replaced, never refused: one bad document must not stop, or mark, a release.
"""

import io
import json
import os
from codecs import BOM_UTF8
from collections.abc import Callable, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from textwrap import shorten
from typing import Any

import polars as pl

from syntf.errors import SyntfError


def read(path: str | Path) -> pl.DataFrame:
    """The rows of a file, or one row a text file of a folder (columns ``path``, ``text``)."""
    source = Path(path)
    if source.is_dir():
        return _folder(source)
    if not source.is_file():
        raise SyntfError(f"no file or folder at {source}")
    reader = _READERS.get(source.suffix.lower())
    if reader is None:
        raise SyntfError(
            f"cannot tell the format of {source.name}: it must end in {', '.join(_READERS)}, "
            "or be a folder of text files"
        )
    try:
        frame = reader(source)
    except OSError as error:
        raise SyntfError(f"cannot read {source}: {error.strerror}") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        # The library's own message may quote a text: it is not passed on.
        raise SyntfError(
            f"cannot read {source}: it is not well-formed; look for an unclosed quote, a row with "
            "too many fields, or values of mixed types"
        ) from error
    if not frame.height:
        raise SyntfError(f"{source} holds no rows")
    return frame


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
    raise SyntfError(f"column {column!r} holds {values.dtype}, not text")


def digest(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, or of the names and SHA-256 of a folder's files."""
    source = Path(path)
    if not source.is_dir():
        with source.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    lines = (f"{digest(file)} {_name(file.relative_to(source))}\n" for file in _files(source))
    return sha256("".join(lines).encode()).hexdigest()


def require(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse columns that are not there, and name those that are."""
    for column in columns:
        if column not in frame.columns:
            there = ", ".join(shorten(name, 30) for name in frame.columns)
            raise SyntfError(f"no column {column!r}; the columns are: {there}")


def _separated(separator: str) -> Callable[[Path], pl.DataFrame]:
    def read_separated(source: Path) -> pl.DataFrame:
        raw = source.read_bytes()
        if not raw:
            raise SyntfError(f"{source} is empty")
        # As strings, all columns: what is kept is kept as it is, an id 007 too.
        return pl.read_csv(
            io.BytesIO(raw), separator=separator, infer_schema=False, encoding="utf8-lossy"
        )

    return read_separated


def _json_lines(source: Path) -> pl.DataFrame:
    rows = []
    raw = source.read_bytes().removeprefix(BOM_UTF8)
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8", "replace"), object_hook=_whole_characters)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise SyntfError(f"{source}: line {number} is not a JSON object")
        rows.append(row)
    if not rows:
        raise SyntfError(f"{source} is empty")
    return pl.from_dicts(rows, infer_schema_length=None, strict=False)


def _whole_characters(row: dict[str, Any]) -> dict[str, Any]:
    """Replace lone surrogates, which JSON can spell and no file can hold."""
    return {_encodable(key): _encodable(value) for key, value in row.items()}


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value


def _folder(source: Path) -> pl.DataFrame:
    paths = _files(source)
    if not paths:
        raise SyntfError(f"the folder {source} holds no files")
    return pl.DataFrame(
        {
            "path": [_name(path.relative_to(source)) for path in paths],
            "text": [path.read_bytes().decode("utf-8", "replace") for path in paths],
        }
    )


def _files(source: Path) -> list[Path]:
    return sorted(path for path in source.rglob("*") if path.is_file())


def _name(path: Path) -> str:
    return os.fsencode(path.as_posix()).decode("utf-8", "replace")


def _parquet(source: Path) -> pl.DataFrame:
    # Read here, so that nothing but this one file is ever opened on its behalf.
    return pl.read_parquet(io.BytesIO(source.read_bytes()))


_READERS: dict[str, Callable[[Path], pl.DataFrame]] = {
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".parquet": _parquet,
}
