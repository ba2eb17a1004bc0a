"""The columns of a release on Spark, and the guarantee in the metadata of one of them.

Spark keeps the metadata of a column when a frame is filtered, joined or selected from, and stores
it in Parquet files and in Delta tables. So the guarantee travels with the counts.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arro3.core import DataType, Field

from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import Guarantee
from syntf.releases.contents.prototypes import LABELS, PILOT, PROTOTYPES
from syntf.report.page import template_digest
from syntf.spark import rows
from syntf.spark.drawing import COUNTS, TERMS, Output
from syntf.verification.guarantee_file import read_guarantee

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

METADATA = "syntf"
"""Name of the guarantee in the metadata of the column with the counts."""

_ARROW: dict[str, DataType] = {
    "byte": DataType.int8(), "short": DataType.int16(), "integer": DataType.int32(),
    "long": DataType.int64(), "float": DataType.float32(), "double": DataType.float64(),
    "boolean": DataType.bool(), "date": DataType.date32(), "timestamp": DataType.timestamp("us"),
    "timestamp_ntz": DataType.timestamp("us"), "binary": DataType.binary(),
    "struct": DataType.struct([]), "map": DataType.struct([]),
}  # fmt: skip


def with_guarantee(data: "DataFrame", guarantee: Guarantee) -> "DataFrame":
    """Return a frame of released rows with the guarantee in the metadata of its counts."""
    stated = replace(guarantee, template=template_digest())
    return data.withMetadata(COUNTS, {METADATA: stated.as_json()})


def guarantee_of(data: "DataFrame | str") -> Guarantee:
    """Return the guarantee of released rows, and check that no field was changed.

    Parameters
    ----------
    data : DataFrame or str
        ``release.data``, or a table written from it. Or the text of a guarantee that was stored
        elsewhere, such as in a property of the table.

    Raises
    ------
    SyntfError : the column ``counts`` has no guarantee, or a damaged one.

    Examples
    --------
    >>> from syntf.spark import guarantee_of
    >>> guarantee_of(spark.read.parquet("counts")).loss_per_document  # doctest: +SKIP
    10.0
    """
    if isinstance(data, str):
        return read_guarantee(data.encode()).guarantee
    stated = data.schema[COUNTS].metadata.get(METADATA) if COUNTS in data.columns else None
    if stated is None:
        raise SyntfError(
            f"the frame has no guarantee: it is in the metadata of the column {COUNTS!r} of "
            "release.data, and of tables whose format keeps metadata (Parquet, Delta)"
        )
    return read_guarantee(stated.encode()).guarantee


def arrow_types(schema: "StructType") -> dict[str, DataType]:
    """Return the columns of Parquet files that Spark wrote, with Arrow's types."""
    return {column.name: _arrow_type(column.dataType) for column in schema.fields}


def _arrow_type(kind: Any) -> DataType:
    from pyspark.sql.types import UserDefinedType

    if isinstance(kind, UserDefinedType):  # such as a vector of Spark ML
        return _arrow_type(kind.sqlType())
    name = kind.typeName()
    if name == "array":
        return DataType.list(Field("item", _arrow_type(kind.elementType)))
    if name == "decimal":
        return DataType.decimal128(kind.precision, kind.scale)
    return _ARROW.get(name, DataType.string())


def released_schema(
    selected: "DataFrame",
    kept: Sequence[str],
    described: Sequence[str],
    output: Output,
) -> "StructType":
    """Return the columns of a release: the kept ones, those that describe it, then the counts."""
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql.types import (
        ArrayType,
        BooleanType,
        DataType,
        IntegerType,
        StringType,
        StructField,
        StructType,
    )

    schema = StructType()
    for number, name in enumerate(kept):
        schema.add(StructField(name, selected.schema[rows.kept_name(number)].dataType))
    types: dict[str, DataType] = {
        PILOT: BooleanType(), PROTOTYPES: ArrayType(IntegerType(), False), LABELS: StringType(),
    }  # fmt: skip
    for name in described:
        schema.add(StructField(name, types[name], nullable=False))
    if output == "vector":
        return schema.add(StructField(COUNTS, VectorUDT(), nullable=False))
    return schema.add(StructField(TERMS, ArrayType(StringType(), False), nullable=False)).add(
        StructField(COUNTS, ArrayType(IntegerType(), False), nullable=False)
    )
