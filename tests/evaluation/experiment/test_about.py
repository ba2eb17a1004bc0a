"""What an evaluation records about its texts: file, date, documents per author, drawn rows."""

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.about import (
    ABOUT,
    describe_texts,
    read_about,
    shown_documents,
    write_about,
)
from syntf.evaluation.experiment.corpus import LabelledCorpus
from syntf.report.evaluation import EvaluatedTexts


def corpus(authors):
    count = len(authors)
    labels = np.array([f"label {number}" for number in range(count)])
    return LabelledCorpus(["text"] * count, labels, np.array(authors), np.ones(count, dtype=bool))


def test_documents_are_counted_for_each_known_author():
    texts = corpus(["a"] * 5 + ["b"] * 2 + ["c"] * 3 + [""])
    rows = [f"bus {number}" for number in range(5)]
    assert describe_texts(texts, "mails.csv", "2026-11-16", rows) == EvaluatedTexts(
        file="mails.csv", date="2026-11-16", documents=11, authors=3,
        documents_per_author=(2, 3.0, 5),
        rows=[(f"label {place}", f"bus {number}")
              for number, place in enumerate((0, 2, 5, 7, 10))],
    )  # fmt: skip


def test_texts_without_authors_have_no_documents_per_author():
    found = describe_texts(corpus([""] * 2), "a.csv", "2026-11-16", ["x 1", "y 1"])
    assert (found.authors, found.documents_per_author) == (0, None)


def test_short_corpora_show_each_document_once():
    assert shown_documents(corpus([""] * 3)).tolist() == [0, 1, 2]


@pytest.mark.parametrize("authors", [["a", "a", "b", "b"], [""] * 4])
def test_what_is_written_is_read_again(tmp_path, authors):
    about = describe_texts(corpus(authors), "Müller.csv", "2026-11-16", list("wxyz"))
    write_about(tmp_path, about)
    assert read_about(tmp_path) == about


def test_earlier_folders_have_none_and_damaged_ones_are_refused(tmp_path):
    assert read_about(tmp_path) is None
    for damaged in ("", "[]", "{}", '{"rows": []}'):
        (tmp_path / ABOUT).write_text(damaged)
        with pytest.raises(SyntfError, match="run syntf evaluate again"):
            read_about(tmp_path)
