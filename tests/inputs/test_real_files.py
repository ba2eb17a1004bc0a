"""What the readers make of files as programs write them, compared with version 0.2.0.

``record.json`` has, for each file, the digests that 0.2.0 gave. Where this version differs, it has
the reason, and the digests of now.
"""

import hashlib
import json
from pathlib import Path

import polars as pl
import pytest

from syntf.inputs.corpus import Corpus, Reading

ROOT = Path(__file__).parents[2]
RECORD = json.loads(Path(__file__).with_name("record.json").read_text(encoding="utf-8"))


def digest(values):
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:16]


def described(path, text, reading):
    corpus = Corpus(path, text, None, Reading(**reading))
    rows = pl.concat(list(corpus.batches())).with_columns(pl.col(text).fill_null(""))
    return {
        "rows": rows.height,
        "columns": {name: str(kind) for name, kind in rows.schema.items()},
        "texts": digest(rows[text].to_list()),
        "values": digest([list(row) for row in rows.select(sorted(rows.columns)).rows()]),
    }


@pytest.mark.parametrize("name", RECORD)
def test_a_file_gives_the_documents_of_0_2_0_or_there_is_a_reason(name):
    record = RECORD[name]
    path = ROOT / name.partition("#")[0]  # what follows tells two readings of one file apart
    found = described(path, record["text"], record["reading"])
    if "reason" in record:
        assert found == record["now"] != record["in 0.2.0"]
    else:
        assert found == record["as in 0.2.0"]


def test_every_file_is_recorded():
    folder = Path(__file__).with_name("files")
    recorded = {Path(name.partition("#")[0]).relative_to("tests/inputs/files").parts[0]
                for name in RECORD if name.startswith("tests")}  # fmt: skip
    assert recorded == {path.name for path in folder.iterdir()}
