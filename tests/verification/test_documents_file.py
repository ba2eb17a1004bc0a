"""The Parquet file of the documents: who may have written it, and what it may hold."""

from contextlib import suppress

import numpy as np
import polars as pl
import pytest
from arro3.core import ChunkedArray, Schema, Table
from arro3.io import write_parquet

from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.inputs.formats import parquet
from syntf.releases.contents.writers import write_documents
from syntf.verification import parquet_file
from syntf.verification.counts_file import unreadable
from syntf.verification.parquet_file import check_documents_bytes, read_table
from syntf.verification.result import NotCheckedError

DOCUMENTS = tables.of(
    {
        "document": tables.numbers(np.arange(500)),
        "topic": tables.strings(["cars", "pets", "", "ça"] * 125),
        "prototypes": tables.lists(np.arange(1000, dtype=np.int32).reshape(500, 2) % 7),
    }
)


@pytest.fixture
def path(tmp_path):
    with (tmp_path / "documents.parquet").open("wb") as file:
        write_documents(file, DOCUMENTS)
    return tmp_path / "documents.parquet"


def checked(path):
    """Check a file as verify does: another process reads it first."""
    parquet_file.check_readable([path])
    return check_documents_bytes(path, read_table(path))


def test_every_byte_of_an_own_file_is_compared(path):
    assert checked(path)
    assert parquet_file.rows_of(path) == 500
    assert parquet_file.values_of(path, "prototypes") == 1000


def test_a_file_that_polars_wrote_is_compared_too(path):
    """Releases before 0.3 have such files."""
    pl.read_parquet(path).write_parquet(path)
    assert checked(path)
    pl.read_parquet(path).write_parquet(path, metadata={"secret": "text"})
    with pytest.raises(SyntfError, match="not those that syntf writes"):
        checked(path)


def signed(raw, version="arro3 version 0.0.1"):
    """The bytes of a file as another version of the library would sign it."""
    assert len(version) == len(tables.CREATED_BY)
    return raw.replace(tables.CREATED_BY.encode(), version.encode())


def test_a_file_of_another_version_passes_and_is_reported(path):
    path.write_bytes(signed(path.read_bytes()))
    assert not checked(path)


@pytest.mark.parametrize("name", [tables.CREATED_BY, "arro3 version 0.0.1"])
def test_metadata_in_the_footer_is_refused(path, name):
    with path.open("wb") as file:
        write_parquet(DOCUMENTS, file, created_by=name, key_value_metadata={"secret": "text"})
    with pytest.raises(SyntfError, match=r"other metadata|not those that syntf writes"):
        checked(path)


@pytest.mark.parametrize("other", [{"compression": "gzip(6)"}, {"bloom_filter_enabled": True}])
def test_other_bytes_for_the_same_table_are_refused(path, other):
    with path.open("wb") as file:
        write_parquet(DOCUMENTS, file, created_by=tables.CREATED_BY, **other)
    with pytest.raises(SyntfError, match="not those that syntf writes"):
        checked(path)


def test_a_gap_between_the_columns_is_refused(path):
    raw = signed(path.read_bytes())
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    path.write_bytes(raw[:footer] + b"secret" + raw[footer:])
    with pytest.raises(SyntfError, match="do not fill the file"):
        checked(path)


def test_another_program_is_refused(path):
    with path.open("wb") as file:
        write_parquet(DOCUMENTS, file, created_by="a diary")
    with pytest.raises(SyntfError, match="neither syntf nor Spark"):
        checked(path)


BUILD = f"(build {'0123456789abcdef' * 2}01234567)"


@pytest.mark.parametrize(
    "name",
    ["arro3 version 0.10.12", "Polars", f"Polars (python) version 1.33.1 {BUILD}",
     f"parquet-mr version 1.15.2 {BUILD}", f"parquet-mr version 1.12.3-databricks-0002 {BUILD}"],
)  # fmt: skip
def test_names_of_writers_are_known(name):
    parquet_file._check_writer(name.encode())


@pytest.mark.parametrize(
    "name",
    ["arro3", "arro3 version 0.9.0; document 3 says: I resign", "arro3 version 0.9.0\n", "Polars 7",
     "arro3 version 0.9.0-secret", f"Polars (python) version 1.33.1 {BUILD} ",
     "parquet-mr version 1.15.2 (build I resign)", f"parquet-mr version I resign {BUILD}",
     "parquet-mr", "a diary", ""],
)  # fmt: skip
def test_a_name_with_other_text_is_refused(name):
    with pytest.raises(SyntfError, match="neither syntf nor Spark"):
        parquet_file._check_writer(name.encode())


def with_footer(raw, change):
    """The file with other bytes in its footer."""
    size = int.from_bytes(raw[-8:-4], "little")
    footer = change(raw[-8 - size : -8])
    return raw[: -8 - size] + footer + len(footer).to_bytes(4, "little") + raw[-4:]


ARRO3 = parquet_file.ARRO3_TRIAL, str(parquet_file.MOST_MEMORY)
SECRET = b"\x06secret"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda footer: footer[:-1] + b"\x28" + SECRET + b"\0", "a field that no writer has"),
        (lambda footer: footer[:-1] + b"\x08\x0c" + SECRET + b"\0", "in another order"),
        (lambda footer: footer.replace(b"\x0carrow_schema", b"\x0cI resign, Bo"), "other names"),
        (lambda footer: footer.replace(b"\x04item", b"\x04I_am"), "other names"),
        (lambda footer: footer.replace(b"\x1c\0\0", b"\x1c\x18" + SECRET + b"\0\0"),
         "cannot be read|a field that no writer has"),
    ],
)  # fmt: skip
def test_free_text_in_the_footer_is_refused(path, change, told):
    raw = signed(path.read_bytes())
    changed = with_footer(raw, change)
    assert changed != raw
    path.write_bytes(changed)
    with pytest.raises(SyntfError, match=told):
        checked(path)


def test_an_unknown_field_of_a_column_is_refused(path):
    footer = parquet_file._footer(signed(path.read_bytes()))
    group = footer[4][0]
    chunk = group[1][0]
    parquet_file._check_fields(footer)
    for part in (footer, footer[2][1], group, chunk, chunk[3], chunk[3][12]):
        part[19] = b"secret"
        with pytest.raises(SyntfError, match="a field that no writer has"):
            parquet_file._check_fields(footer)
        del part[19]


def test_damaged_files_end_in_an_error_that_verify_reports(path, tmp_path):
    """A changed byte is found, unless the file is then that of another table."""
    raw = path.read_bytes()
    left = []
    for place in range(4, len(raw) - 8, 11):
        changed = bytearray(raw)
        changed[place] ^= 0xFF
        left.append(tmp_path / f"{place}.parquet")
        left[-1].write_bytes(changed)
    while left:  # another process reads them until one ends it
        readable = left[: len(parquet.try_files(left, *ARRO3))]
        left = left[len(readable) + 1 :]
        for damaged in readable:
            with suppress(SyntfError, *unreadable()):
                assert check_documents_bytes(damaged, read_table(damaged))
                assert pl.DataFrame(read_table(damaged)).equals(pl.DataFrame(DOCUMENTS)) is False


@pytest.mark.parametrize("version", [tables.CREATED_BY, "arro3 version 0.0.1"])
@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("topic", tables.strings(["I resign"] * 500)),
        ("document", tables.numbers(np.arange(500) * 7)),
        ("topic", tables.numbers(np.arange(500.0))),
    ],
)
def test_two_columns_of_the_same_name_are_refused(path, version, name, secret):
    """The second one would be hidden: columns are looked up by their names."""
    columns = [DOCUMENTS.column(known) for known in DOCUMENTS.column_names]
    columns.append(ChunkedArray([secret]))
    table = Table.from_arrays(columns, names=[*DOCUMENTS.column_names, name])
    path.write_bytes(signed(tables.as_parquet(table, ascending=["document"]), version))
    with pytest.raises(SyntfError, match="two columns of the same name"):
        checked(path)


@pytest.mark.parametrize("trial", [ARRO3, (parquet.TRIAL, str(parquet.WHOLE), "parquet")])
def test_no_program_in_the_current_folder_runs(path, monkeypatch, trial):
    """A stranger may send modules beside a release: the other process must not import them."""
    names = ("resource", "polars", "arro3")
    for name in names:
        (path.parent / f"{name}.py").write_text(f"open('{name}-ran', 'w').close()")
    monkeypatch.chdir(path.parent)
    assert len(parquet.try_files([path], *trial)) == 1
    assert not [name for name in names if (path.parent / f"{name}-ran").exists()]


def extended(path):
    """The file with a secret in the metadata of an extension type of its first column."""
    fields = [DOCUMENTS.schema.field(name) for name in DOCUMENTS.column_names]
    hidden = {"ARROW:extension:name": "x", "ARROW:extension:metadata": "secret" * 1000}
    changed = Schema([fields[0].with_metadata(hidden), *fields[1:]])
    path.write_bytes(tables.as_parquet(DOCUMENTS.with_schema(changed), ascending=["document"]))


def with_topics(kind):
    """The file as polars writes it, with topics of another type."""

    def write(path):
        frame = pl.read_parquet(path)
        frame.with_columns(frame["topic"].cast(kind)).write_parquet(path)

    return write


@pytest.mark.parametrize(
    "hide", [extended, with_topics(pl.Enum(["cars", "pets", "", "ça", "secret"])),
             with_topics(pl.Categorical)]
)  # fmt: skip
def test_a_type_that_carries_more_than_values_is_refused(path, hide):
    """Whoever writes the table again gets the same bytes, so comparing them is not enough."""
    hide(path)
    with pytest.raises(SyntfError):
        checked(path)


def test_a_footer_that_claims_a_long_list_is_refused_at_once(tmp_path):
    """A list of 2**60 numbers of eight bytes each, in a file of a few bytes."""
    footer = b"\x19\xf7" + b"\x80" * 8 + b"\x10" + b"\0"
    path = tmp_path / "documents.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(EOFError):
        parquet_file.rows_of(path)


def changed_footer(monkeypatch, change):
    """Let the footer of every file state something else."""
    clean = parquet_file._footer

    def footer(raw):
        found = clean(raw)
        change(found)
        return found

    monkeypatch.setattr(parquet_file, "_footer", footer)


def state(*place, value):
    """Return a function that states another value at a place of a footer."""

    def change(footer):
        for key in place[:-1]:
            footer = footer[key]
        footer[place[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            state(4, 0, 3, value=1 << 40),
            "claims 1,099,511,627,776 rows in",
        ),
        (state(3, value=499), "claims 500 rows in its parts and 499 in all"),
        (state(4, 0, 3, value=499), "claims 499 rows in its parts and 500 in all"),
        (state(4, 0, 1, 0, 3, 5, value=501), "claims 501 values in a column of 500 rows"),
        (state(4, 0, 1, 1, 3, 5, value=-1), "claims -1 values"),
        (state(4, 0, 1, 2, 3, 5, value=499), "claims 499 values"),
        (state(4, 0, 1, value=[]), "claims 0 columns, not 3"),
    ],
)
def test_sizes_that_differ_are_refused_before_anything_is_decoded(path, monkeypatch, change, told):
    changed_footer(monkeypatch, change)
    monkeypatch.setattr(pl, "read_parquet", None)
    with pytest.raises(SyntfError, match=told):
        read_table(path)


@pytest.mark.parametrize(
    "change", [state(4, 0, 1, 2, 3, 5, value=1 << 40), state(4, 0, 1, 1, 3, 6, value=1 << 40)]
)
def test_a_file_that_would_take_too_much_memory_is_not_read(path, monkeypatch, change):
    changed_footer(monkeypatch, change)
    monkeypatch.setattr(pl, "read_parquet", None)
    with pytest.raises(NotCheckedError, match=r"more than 2\.1 GB.*fewer documents"):
        read_table(path)


def test_a_long_string_in_many_rows_is_not_converted(tmp_path, monkeypatch):
    """polars holds it once; every other form of the column would repeat it."""
    path = tmp_path / "documents.parquet"
    pl.DataFrame({"topic": ["a" * 10_000] * 10_000}).write_parquet(path)
    assert path.stat().st_size < 2000
    monkeypatch.setattr(parquet_file, "LARGEST_TABLE", 50_000_000)
    monkeypatch.setattr(tables, "from_polars", None)
    with pytest.raises(NotCheckedError, match=r"more than 0\.1 GB"):
        read_table(path)


def test_lists_and_parts_of_structures_may_have_more_values_than_rows(tmp_path):
    nested = [[{"x": 1, "y": ["a", "b"]}], [], None, [{"x": None, "y": []}] * 5]
    parts = {"n": nested, "s": [{"Int128": place} for place in range(4)], "empty": [None] * 4}
    table = tables.from_polars(pl.DataFrame(parts))
    (tmp_path / "one").write_bytes(tables.as_parquet(table))
    pl.DataFrame(parts).write_parquet(tmp_path / "other", row_group_size=3)
    for name in ("one", "other"):
        assert read_table(tmp_path / name).num_rows == 4


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128, pl.List(pl.Int128)])
def test_integers_of_128_bits_in_an_earlier_release_are_not_checked(tmp_path, kind):
    """Version 0.1.0 could keep such a column. It is no fault of the sender."""
    values = [[1]] if isinstance(kind, pl.List) else [1]
    path = tmp_path / "documents.parquet"
    pl.DataFrame({"n": pl.Series(values, dtype=kind)}).write_parquet(path)
    with pytest.raises(NotCheckedError, match=r"'n' has a type .* ask the sender"):
        read_table(path)
