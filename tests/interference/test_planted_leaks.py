"""Programs with a leak built in: the comparison must find each of them."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from syntf import rows
from syntf.core import entropy
from syntf.inputs import corpus
from syntf.release import folder, job
from syntf.topics import encoder, plan
from tests.interference.runs import TEXTS, check, differing_pairs

TRIED = ["", "many many words here", "music song piano", TEXTS["many words"], TEXTS["a number"]]


def skip_empty_texts(patch):
    """Leave out documents without a text."""
    batches = corpus.Corpus.batches

    def full(self):
        for batch in batches(self):
            yield batch.filter(batch["text"].fill_null("").str.len_bytes() > 0)

    patch.setattr(corpus.Corpus, "batches", full)


def sort_by_length(patch):
    """Read the documents in the order of the lengths of their texts."""
    batches = corpus.Corpus.batches

    def ordered(self):
        for batch in batches(self):
            lengths = batch["text"].fill_null("").str.len_bytes()
            yield batch[lengths.arg_sort()]

    patch.setattr(corpus.Corpus, "batches", ordered)


def change_kept_values(patch):
    """Mark a kept value if the text of its document has a certain word."""
    batches = corpus.Corpus.batches

    def marked(self):
        for batch in batches(self):
            found = batch["text"].fill_null("").str.contains("many")
            name = next(one for one in batch.columns if one != "text")
            values = [f"{v}{' ' * f}" for v, f in zip(batch[name], found, strict=True)]
            yield batch.with_columns(batch[name].replace_strict(batch[name], values))

    patch.setattr(corpus.Corpus, "batches", marked)


def refuse_long_texts(patch):
    """Stop at a text that is very long."""
    encode = rows.TopicRows.encode

    def strict(self, texts, source=entropy.system):
        if (texts.str.len_bytes() > 1000).any():
            raise ValueError("too long")
        return encode(self, texts, source)

    patch.setattr(rows.TopicRows, "encode", strict)


def print_the_number_of_words(patch):
    """Print how many texts have no known word."""
    encode = rows.TopicRows.encode

    def told(self, texts, source=entropy.system):
        found = encode(self, texts, source)
        sys.stdout.write(str(int(self.unknown(found).sum())))
        return found

    patch.setattr(rows.TopicRows, "encode", told)


def encode_by_the_mean_of_the_batch(patch):
    """Centre documents by the mean of all documents that are encoded together."""
    encode = encoder.Encoder.encode

    def centred(self, counts):
        found = encode(self, counts)
        return (found - 3 * found.mean(axis=0)).astype(np.int16)

    patch.setattr(encoder.Encoder, "encode", centred)


def draw_only_for_documents_with_words(patch):
    """Spend no random bits on documents without a known word."""
    answer = rows.Scheme.answer

    def drawn(self, encoded, source):
        known = encoded.any(axis=1)
        answers = np.zeros((len(encoded), self.draws), dtype=np.int64)
        if known.any():
            answers[known] = answer(self, encoded[known], source)
        return answers

    patch.setattr(rows.Scheme, "answer", drawn)


def count_words_in_the_guarantee(patch):
    """Say in the release how many known words its texts have."""
    make, seen = rows.guarantee, []
    encode = rows.TopicRows.encode

    def noted(self, texts, source=entropy.system):
        seen.append(int(texts.str.len_bytes().sum()))
        return encode(self, texts, source)

    def told(*arguments, **options):
        made = make(*arguments, **options)
        return replace(made, settings={**made.settings, "length": sum(seen)})

    patch.setattr(rows.TopicRows, "encode", noted)
    patch.setattr(job, "guarantee", told)


def shuffle_the_longest_last(patch):
    """Shuffle, but release the document with the longest text last."""
    encode, seen = rows.TopicRows.encode, []
    permutation = entropy.permutation

    def noted(self, texts, source=entropy.system):
        seen[:] = [texts.str.len_bytes().to_numpy()]
        return encode(self, texts, source)

    def almost(source, count):
        order = permutation(source, count)
        return order[np.argsort(seen[0][order] == seen[0].max(), kind="stable")]

    patch.setattr(rows.TopicRows, "encode", noted)
    patch.setattr(job.entropy, "permutation", almost)


def choose_long_texts_for_the_pilot(patch):
    """Choose the documents with the longest texts for the pilot."""
    shuffle_the_longest_last(patch)


def sharpen_by_true_answers(patch):
    """Sharpen the list by the true answers of the pilot, not by its released ones."""
    draw = rows.draw

    def broken(scheme, encoded, source=entropy.system):
        def answer_truly(released):
            return scheme.sharpen(scheme.find_targets(encoded))

        return draw(
            replace(scheme, sharpen=answer_truly if scheme.sharpen else None), encoded, source
        )

    patch.setattr(job, "draw", broken)


def write_the_length_into_a_file_time(patch):
    """Set the time of a file by the number of texts without known words."""
    write, seen = folder.write_release, []
    encode = rows.TopicRows.encode

    def noted(self, texts, source=entropy.system):
        seen[:] = [int(texts.str.len_bytes().sum())]
        return encode(self, texts, source)

    def stamped(place, *arguments, **options):
        made = write(place, *arguments, **options)
        os.utime(place / "README.txt", (seen[0], seen[0]))
        return made

    patch.setattr(rows.TopicRows, "encode", noted)
    patch.setattr(job, "write_release", stamped)


def end_a_name_with_a_blank_if_it_is_true(patch):
    """Name the topic with a blank at its end if it is the true one."""
    read = job.Documents.read.__func__
    names = rows.Drawn.names
    seen = []

    def noted(cls, *arguments, **options):
        seen[:] = [read(cls, *arguments, **options)]
        return seen[0]

    def told(self):
        true = (self.rest.find_targets(seen[0].encoded) == self.answers).all(axis=1)
        return [name + " " * bool(same) for name, same in zip(names(self), true, strict=True)]

    patch.setattr(job.Documents, "read", classmethod(noted))
    patch.setattr(rows.Drawn, "names", told)


LEAKS = [
    skip_empty_texts, sort_by_length, change_kept_values, refuse_long_texts,
    print_the_number_of_words, encode_by_the_mean_of_the_batch,
    draw_only_for_documents_with_words, count_words_in_the_guarantee, shuffle_the_longest_last,
    write_the_length_into_a_file_time, end_a_name_with_a_blank_if_it_is_true,
]  # fmt: skip
PILOT_LEAKS = [choose_long_texts_for_the_pilot, sharpen_by_true_answers]


def compare(tmp_path, **options):
    for place in (1, 4):
        for first, second in differing_pairs(tmp_path / str(place), "csv", TRIED, place, **options):
            check(first, second, f"l{place}")


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found(tmp_path, monkeypatch, leak):
    leak(monkeypatch)
    with pytest.raises(AssertionError):
        compare(tmp_path, document_loss=2.0)


@pytest.mark.parametrize("leak", PILOT_LEAKS)
def test_a_leak_through_the_pilot_is_found(tmp_path, monkeypatch, leak):
    monkeypatch.setattr(plan, "PILOT_FROM", 4)
    monkeypatch.setattr(plan, "pilot_size", lambda documents: 2)
    leak(monkeypatch)
    with pytest.raises(AssertionError):
        compare(tmp_path, document_loss=2.0)


def test_without_a_leak_the_same_texts_pass(tmp_path):
    compare(tmp_path, document_loss=2.0)


def test_a_shuffle_that_does_nothing_is_found(tmp_path, monkeypatch):
    """With two seeds, the order of a release differs; a broken shuffle keeps that of the input."""
    orders = {
        seed: next(differing_pairs(tmp_path / str(seed), "csv", [""], source=entropy.Seeded(seed)))[
            0
        ].kept
        for seed in (1, 2)
    }
    labels = [f"l{place}" for place in range(7)]
    assert orders[1] != orders[2]
    assert sorted(orders[1]) == labels
    monkeypatch.setattr(job.entropy, "permutation", lambda source, count: np.arange(count))
    still = next(differing_pairs(tmp_path / "broken", "csv", [""]))[0].kept
    assert list(still) == labels
