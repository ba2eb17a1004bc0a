"""The dataset card of a release: ``croissant.json``, in the format Croissant 1.0 of MLCommons.

Data catalogues and ML libraries read it to find the files of a release and the types of their
columns. It repeats what other files of the release say, so it costs no privacy: names and digests
of files, names and types of columns, the number of documents and the guarantee.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from arro3.core import DataType, Field

from syntf.core import tables
from syntf.privacy.guarantee import Guarantee
from syntf.report.page import render

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{
        name: f"cr:{name}"
        for name in (
            "column", "extract", "field", "fileObject", "fileSet", "includes", "recordSet",
            "repeated", "source",
        )
    },
}  # fmt: skip
"""What the names in a card mean: the terms of Croissant's own context that a card uses."""

ENCODINGS = {
    "parquet": "application/x-parquet",
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
    "npz": "application/zip",
}
"""The encoding of files by the end of their names; all others are plain text."""

COUNTS_COLUMNS: dict[str, Mapping[str, DataType]] = {
    "parquet": {
        "document": DataType.int64(),
        "terms": DataType.list(Field("item", DataType.string())),
        "counts": DataType.list(Field("item", DataType.int32())),
    },
    "csv": {
        "document": DataType.int64(),
        "term": DataType.string(),
        "count": DataType.int32(),
    },
}
"""The columns of the counts, for the formats that a card can describe as a table."""


def render_card(
    guarantee: Guarantee,
    documents: int,
    schema: Mapping[str, DataType],
    counts_file: str,
    files: Mapping[str, str],
) -> bytes:
    """Return the contents of ``croissant.json``.

    documents : the number of documents.
    schema : the columns of the documents file and their types. Spark writes the counts into the
        same files. Columns of structs, such as its vectors, are left out.
    counts_file : the name of the counts file, or a pattern if there are several shards.
    files : the digests of the other files of the release by name, as in ``guarantee.json``.
    """
    ending = counts_file.rpartition(".")[2]
    shards = {
        "documents": sorted(
            name for name in files if _is_part(name, "documents", "parquet") or _is_by_spark(name)
        ),
        "counts": sorted(name for name in files if _is_part(name, "vectors", ending)),
    }
    others = [name for name in ("vocabulary.txt", "prototypes.csv") if name in files]
    distribution = [
        _file(name, files[name]) for name in (*shards["documents"], *shards["counts"], *others)
    ]
    record_sets = []
    for name, columns in (("documents", schema), ("counts", COUNTS_COLUMNS.get(ending))):
        parts = shards[name]
        if columns is None or not parts:
            continue
        source = {"fileObject": {"@id": parts[0]}} if len(parts) == 1 else _file_set(name, parts)
        if "fileSet" in source:
            distribution.append(source["fileSet"])
            source = {"fileSet": {"@id": source["fileSet"]["@id"]}}
        record_sets.append(_record_set(name, columns, source))
    card = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "syntf-release",
        "description": render("card.txt", guarantee=guarantee, documents=documents).strip(),
        "distribution": distribution,
        "recordSet": record_sets,
    }
    return (json.dumps(card, indent=2) + "\n").encode()


def _is_part(name: str, start: str, ending: str) -> bool:
    return name.startswith((f"{start}.", f"{start}-")) and name.endswith(f".{ending}")


def _is_by_spark(name: str) -> bool:
    return name.startswith("data/") and name.endswith(".parquet")


def _file(name: str, digest: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "encodingFormat": _encoding(name),
        "sha256": digest.removeprefix("sha256:"),
    }


def _file_set(name: str, parts: Sequence[str]) -> dict[str, Any]:
    start, ending = parts[0].split("-")[0], parts[0].rpartition(".")[2]
    return {
        "fileSet": {
            "@type": "cr:FileSet",
            "@id": f"{name}-files",
            "name": f"{name}-files",
            "includes": f"{start}-*.{ending}",
            "encodingFormat": _encoding(parts[0]),
        }
    }


def _record_set(
    name: str, columns: Mapping[str, DataType], source: dict[str, Any]
) -> dict[str, Any]:
    fields = []
    for column, kind in columns.items():
        if _is_nested(kind):
            continue
        field = {
            "@type": "cr:Field",
            "@id": f"{name}/{quote(column, safe='')}",
            "name": column,
            "dataType": _data_type(tables.inner(kind)),
            "source": {**source, "extract": {"column": column}},
        }
        fields.append({**field, "repeated": True} if tables.is_list(kind) else field)
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}


def _is_nested(kind: DataType) -> bool:
    """Tell whether Croissant cannot describe a column: structs, maps, and lists of these."""
    values = tables.inner(kind)
    return DataType.is_struct(values) or DataType.is_map(values)


def _encoding(name: str) -> str:
    return ENCODINGS.get(name.rpartition(".")[2], "text/plain")


def _data_type(kind: DataType) -> str:
    """Return the type of schema.org for the values of a column."""
    if DataType.is_integer(kind):
        return "sc:Integer"
    if DataType.is_floating(kind) or DataType.is_decimal(kind):
        return "sc:Float"
    if DataType.is_boolean(kind):
        return "sc:Boolean"
    return "sc:Date" if DataType.is_date(kind) or DataType.is_timestamp(kind) else "sc:Text"
