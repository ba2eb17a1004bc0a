"""The structures of a Parquet file: which fields writers write into each, and of which types.

A library that expects a number takes the size of a text for one, and the text for further fields.
So a value of another type can hide anything, and is refused.
"""

from syntf.verification.thrift import Byte, Shape

_EMPTY: Shape = {}
_TIME: Shape = {1: bool, 2: {1: _EMPTY, 2: _EMPTY, 3: _EMPTY}}
_LOGICAL_TYPE: Shape = {
    **dict.fromkeys((1, 2, 3, 4, 6, 11, 12, 13, 14, 15), _EMPTY),
    5: {1: int, 2: int}, 7: _TIME, 8: _TIME, 10: {1: Byte, 2: bool},
}  # fmt: skip
_STATISTICS: Shape = {**dict.fromkeys((1, 2, 5, 6), bytes), 3: int, 4: int, 7: bool, 8: bool}

_COLUMN: Shape = {**dict.fromkeys((1, 2, 3, 5, 6, 7, 8, 9), int), 4: bytes, 10: _LOGICAL_TYPE}
_VALUES: Shape = {
    **dict.fromkeys((1, 4, 5, 6, 7, 9, 11), int), 2: [int], 3: [bytes], 12: _STATISTICS,
    13: [{1: int, 2: int, 3: int}], 16: {1: int, 2: [int], 3: [int]},
}  # fmt: skip
_CHUNK: Shape = {**dict.fromkeys((2, 4, 5, 6, 7), int), 3: _VALUES}
_GROUP: Shape = {1: [_CHUNK], **dict.fromkeys((2, 3, 5, 6, 7), int)}

FOOTER: Shape = {
    1: int, 2: [_COLUMN], 3: int, 4: [_GROUP], 5: [{1: bytes, 2: bytes}], 6: bytes,
    7: [{1: _EMPTY}],
}  # fmt: skip
"""The fields that arro3, polars or Spark write into the footer, and into each of its parts."""

PAGE: Shape = {
    **dict.fromkeys((1, 2, 3, 4), int),
    5: {**dict.fromkeys((1, 2, 3, 4), int), 5: _STATISTICS},
    7: {1: int, 2: int, 3: bool},
    8: {**dict.fromkeys(range(1, 7), int), 7: bool, 8: _STATISTICS},
}
"""The header of a page."""

OFFSETS: Shape = {1: [{1: int, 2: int, 3: int}], 2: [int]}
BOUNDS: Shape = {1: [bool], 2: [bytes], 3: [bytes], 4: int, 5: [int], 6: [int], 7: [int]}
"""The two indexes of a column."""
