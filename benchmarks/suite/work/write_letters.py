"""Write texts with letters beyond ASCII: vowels with accents, or Cyrillic letters."""

import csv
import string
from pathlib import Path

LETTERS = {
    "accents": str.maketrans("aeiouAEIOU", "àéîöüÀÉÎÖÜ"),
    "cyrillic": str.maketrans(
        string.ascii_letters, "абцдефгхийклмнопярстувщхызАБЦДЕФГХИЙКЛМНОПЯРСТУВЩХЫЗ"
    ),
}


def prepare(which: str, source: str, path: str) -> None:
    """Write as many texts of the source as fit its number of bytes."""
    csv.field_size_limit(1 << 30)
    size = Path(source).stat().st_size
    draft = Path(f"{path}.new")
    with (
        open(source, encoding="utf-8", newline="") as file,
        draft.open("w", encoding="utf-8", newline="") as out,
    ):
        rows, written = csv.reader(file), csv.writer(out)
        written.writerow(next(rows))
        for (text,) in rows:
            written.writerow([text.translate(LETTERS[which])])
            if out.tell() >= size:
                break
    draft.rename(path)
