"""Write 20 newsgroups to a file: CSV, or JSON lines or Parquet if its name says so."""

import csv
import json
from pathlib import Path

from syntf.evaluation.experiment.newsgroups import newsgroups


def prepare(data_home: str, path: str, labelled: str = "") -> None:
    """Write the file under another name first, so that an existing file is complete.

    labelled : also write topics, authors and whether a message is for training; CSV only.
    """
    draft = Path(f"{path}.new")
    corpus = newsgroups(data_home or None)
    texts = [text.replace("\0", "") for text in corpus.texts]
    if path.endswith(".parquet"):
        import polars as pl

        pl.DataFrame({"text": texts, "topic": list(corpus.labels)}).write_parquet(draft)
        draft.rename(path)
        return
    with draft.open("w", encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        else:
            rows = csv.writer(file)
            parts = ["train" if train else "test" for train in corpus.train]
            columns = {"text": texts}
            if labelled:
                columns |= {"topic": corpus.labels, "author": corpus.authors, "split": parts}
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))
    draft.rename(path)
