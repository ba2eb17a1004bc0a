"""Texts from files: CSV, TSV, JSON lines, Parquet, or a folder of text files.

Every problem with a file is one :class:`~syntf.errors.SyntfError`. Bytes that are not
UTF-8 are replaced, never refused: one bad document must not stop, or mark, a release.
"""

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

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
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise SyntfError(f"cannot read {source}: {reason}") from error
    if not frame.height:
        raise SyntfError(f"{source} holds no rows")
    return frame


def texts(frame: pl.DataFrame, column: str) -> list[str]:
    """The texts of a column, empty where there is none."""
    require(frame, [column])
    values = frame[column]
    if values.dtype == pl.Binary:
        return [(value or b"").decode("utf-8", "replace") for value in values.to_list()]
    if values.dtype.is_nested():
        raise SyntfError(f"column {column!r} holds {values.dtype}, not text")
    return values.cast(pl.String).fill_null("").to_list()


def require(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse columns that are not there, and name those that are."""
    for column in columns:
        if column not in frame.columns:
            there = ", ".join(frame.columns)
            raise SyntfError(f"no column {column!r}; the columns are: {there}")


def _separated(separator: str) -> Callable[[Path], pl.DataFrame]:
    def read_separated(source: Path) -> pl.DataFrame:
        if not source.stat().st_size:
            raise SyntfError(f"{source} is empty")
        # As strings, all columns: what is kept is kept as it is, an id 007 too.
        return pl.read_csv(source, separator=separator, infer_schema=False, encoding="utf8-lossy")

    return read_separated


def _json_lines(source: Path) -> pl.DataFrame:
    rows = []
    for number, line in enumerate(source.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise SyntfError(f"{source}: line {number} is not a JSON object")
        rows.append(row)
    if not rows:
        raise SyntfError(f"{source} is empty")
    return pl.from_dicts(rows, infer_schema_length=None, strict=False)


def _folder(source: Path) -> pl.DataFrame:
    paths = sorted(path for path in source.rglob("*") if path.is_file())
    if not paths:
        raise SyntfError(f"the folder {source} holds no files")
    return pl.DataFrame(
        {
            "path": [path.relative_to(source).as_posix() for path in paths],
            "text": [path.read_bytes().decode("utf-8", "replace") for path in paths],
        }
    )


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
