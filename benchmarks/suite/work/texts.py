"""Read all texts of a CSV file of the suite."""

import polars as pl


def read_texts(path: str) -> list[str]:
    return pl.read_csv(path, columns=["text"])["text"].fill_null("").to_list()
