"""Write 20 newsgroups to a CSV file with one column."""

import csv
from pathlib import Path

from syntf.evaluation.experiment.newsgroups import newsgroups


def prepare(data_home: str, path: str) -> None:
    """Write the file under another name first, so that an existing file is complete."""
    draft = Path(f"{path}.new")
    with draft.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text"])
        rows.writerows([text.replace("\0", "")] for text in newsgroups(data_home or None).texts)
    draft.rename(path)
