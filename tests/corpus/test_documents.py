"""What is kept of documents comes back as it was given, from memory or from a file."""

import numpy as np
import polars as pl
import pytest

from syntf.corpus import documents as module
from syntf.corpus.documents import LABEL_CHARACTERS


def own_labels(codes, encoded):
    return codes


@pytest.mark.parametrize("memory", [1 << 28, 1])
def test_documents_come_back_from_memory_and_from_a_file(corpus_of, tmp_path, monkeypatch, memory):
    monkeypatch.setattr(module, "_IN_MEMORY", memory)
    corpus = corpus_of(50)
    with corpus.documents(batch=8, folder=str(tmp_path)) as kept:
        assert len(kept) == 50
        for _ in range(2):  # they are read twice
            blocks = list(kept.blocks(own_labels))
            names = [list(kept.labels)[code] for block in blocks for code in block.labels]
            assert names == corpus.labels
            assert (np.vstack([block.encoded for block in blocks]) == corpus.encoded).all()
            occurs = np.vstack([block.counts.toarray() for block in blocks])
            assert (occurs == (corpus.counts.toarray() > 0)).all()
        assert list(tmp_path.iterdir()) == []  # the file has no name


def test_missing_labels_are_one_label_and_long_labels_are_cut(corpus_of):
    corpus = corpus_of(4)
    long = "é" * 10_000
    with corpus.documents() as kept:
        kept.add(pl.Series([None, "", long, long + "x"]), corpus.encoded, corpus.counts)
        counts = dict(zip(kept.labels, kept.label_counts(), strict=True))
    assert counts[""] == 2
    assert counts["é" * LABEL_CHARACTERS] == 2


def test_documents_that_are_not_kept_have_no_label(corpus_of):
    chosen = np.arange(30) % 3 == 0
    with corpus_of(30).documents(batch=7) as kept:
        kept.keep(chosen)
        found = np.concatenate([block.labels for block in kept.blocks(own_labels)])
        assert kept.label_counts().sum() == 10
    assert ((found >= 0) == chosen).all()
