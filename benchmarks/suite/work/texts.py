"""The texts of a CSV file of the suite, all in memory."""

import polars as pl


def read_texts(path: str) -> list[str]:
    return pl.read_csv(path, columns=["text"])["text"].fill_null("").to_list()
