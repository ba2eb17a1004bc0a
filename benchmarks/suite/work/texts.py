"""The texts of a CSV file of the suite, all in memory."""

import polars as pl


def read_texts(path: str) -> list[str]:
    return pl.read_csv(path, columns=["text"], missing_utf8_is_empty_string=True)["text"].to_list()
