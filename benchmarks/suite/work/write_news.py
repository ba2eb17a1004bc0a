"""Write 20 newsgroups to a file of one column: CSV, or JSON lines if its name says so."""

import csv
import json
from pathlib import Path

from syntf.evaluation.experiment.newsgroups import newsgroups


def prepare(data_home: str, path: str) -> None:
    """Write the file under another name first, so that an existing file is complete."""
    draft = Path(f"{path}.new")
    texts = [text.replace("\0", "") for text in newsgroups(data_home or None).texts]
    with draft.open("w", encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
        else:
            rows = csv.writer(file)
            rows.writerow(["text"])
            rows.writerows([text] for text in texts)
    draft.rename(path)
