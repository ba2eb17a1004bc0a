"""Programs with a leak built in: the comparison must find each of them."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from one_machine import compare
from pairs import TEXTS

from syntf.core import tables
from syntf.core.counts import take
from syntf.inputs import corpus
from syntf.inputs.formats import json_lines, mbox
from syntf.releases import draft, drawing_groups, words_run
from syntf.releases.contents import folder
from syntf.releases.rest import Rest

pytestmark = pytest.mark.slow

TRIED = [*TEXTS.values(), "cat " * 40]


def draw_each_batch(patch):
    """Draw for each batch of input by itself: batches end by bytes."""
    add = drawing_groups.DrawingGroups.add

    def added(self, documents):
        add(self, documents)
        if self._waiting:
            self._draw(last_part=True)

    patch.setattr(drawing_groups.DrawingGroups, "add", added)


def end_shards_by_terms(patch):
    """End a shard, and so a file, when its documents have many words."""

    def ended(self, rest, draft, progress):
        anonymizer = self.anonymizer
        for rows in rest.batches(lambda steps: None):
            documents = anonymizer.read(rest.texts(rows))
            for i in range(len(documents)):
                some = drawing_groups._part(documents, i, i + 1)
                one = rows[i : i + 1]
                if some.terms.size > 2 or not i:
                    yield anonymizer.draw_rows(some), rest.released_columns(one, i)

    patch.setattr(words_run.WordsRun, "draw", ended)


def skip_empty_texts(patch):
    """Leave out documents without a text."""
    read = corpus.Corpus._rows

    def full(self):
        for rows in read(self):
            yield rows.at(np.flatnonzero([text != "" for text in rows.strings("text")]))

    patch.setattr(corpus.Corpus, "_rows", full)


def sort_by_length(patch):
    """Release the documents of a shard in the order of the lengths of their texts."""
    columns_of = Rest.released_columns

    def sorted_columns(self, rows, first):
        lengths = rows["text"].str.len_bytes().to_numpy()
        return tables.taken(columns_of(self, rows, first), np.argsort(lengths, kind="stable"))

    patch.setattr(Rest, "released_columns", sorted_columns)


def infer_types(patch):
    """Type the columns of JSON lines by all values together, per batch."""

    def inferred(rows, names):
        values = [{name: row.get(name) for name in names} for row in rows]
        numbers = [{**row, "n": 0.5 if (row["text"] or "").isdigit() else 1} for row in values]
        kind = pl.from_dicts(numbers, infer_schema_length=None)["n"].dtype
        return pl.DataFrame(values, dict.fromkeys(names, pl.String)).with_columns(
            topic=pl.lit(str(kind))
        )

    patch.setattr(json_lines, "_frame", inferred)


def split_at_from(patch):
    """Begin a message at every line that begins with From, quoted or not."""

    def every_line(file, name, most, broken):
        raw = file.read().replace(b"\n>From ", b"\nFrom ")
        for body in raw.split(b"\nFrom ")[:]:
            text = body.partition(b"\n\n")[2].decode("utf-8", "replace")
            yield mbox._frame([[text, "", "", ""]])

    patch.setattr(mbox, "frames", every_line)


def count_words(patch):
    """Say in the release how many known words its texts have."""
    write_all, read = folder.write_all, words_run.Anonymizer.read
    seen = []

    def counted(self, texts, **options):
        documents = read(self, texts, **options)
        seen.append(documents.terms.size)
        return documents

    def told(target, names, shards, words, guarantee, table, format):
        about = replace(guarantee, version=f"{guarantee.version}+{sum(seen)}")
        seen.clear()
        return write_all(target, names, shards, words, about, table, format)

    patch.setattr(words_run.Anonymizer, "read", counted)
    patch.setattr(draft.release_folder, "write_all", told)


def keep_the_longest_last(patch):
    """Shuffle, but release the document with most distinct words last."""
    shuffled = draft.shuffled

    def almost(read, shards, scratch, source):
        for counts, documents in shuffled(read, shards, scratch, source):
            order = np.argsort(np.diff(counts.indptr), kind="stable")
            yield take(counts, order), tables.taken(documents, order)

    patch.setattr(draft, "shuffled", almost)


LEAKS = {
    draw_each_batch: "csv",
    end_shards_by_terms: "csv",
    skip_empty_texts: "json lines",
    sort_by_length: "parquet",
    infer_types: "json lines",
    split_at_from: "mbox",
    count_words: "folder",
    keep_the_longest_last: "tsv",
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(machine, monkeypatch, trust, leak):
    leak(monkeypatch)
    with pytest.raises(AssertionError):  # noqa: PT012 - at one place or at the other
        for place in (1, 2):
            compare(
                machine, LEAKS[leak], TRIED, number=5, place=place, suffix="", sizes=1,
                shuffle=True, with_id=True, with_keep=True, format="text", trust=Counter(),
            )  # fmt: skip
    trust["leaks built in on purpose and found"] += 1


def test_without_a_leak_the_same_texts_pass(machine):
    for name in sorted(set(LEAKS.values())):
        compare(
            machine, name, TRIED, number=5, place=1, suffix="", sizes=1, shuffle=True,
            with_id=True, with_keep=True, format="text", trust=Counter(),
        )  # fmt: skip
