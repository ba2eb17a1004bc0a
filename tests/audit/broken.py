"""Programs that are broken on purpose, each in a way that has happened somewhere.

The audit must catch all of them. ``python tests/audit/broken.py`` prints the table of
``docs/audit.md``: what is broken, and which checks of the audit fail.
"""

import struct
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from unittest.mock import patch
from zlib import crc32

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix, hstack

from syntf.audit import audit
from syntf.core import entropy
from syntf.inputs import columns
from syntf.inputs.corpus import Corpus
from syntf.inputs.rows import Rows
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.synthesis import draw_terms, synthesize
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.releases import draft
from syntf.releases.contents import archive, folder
from syntf.text.tokenizer import tokenize
from syntf.vectors.word_vectors import WordVectors

WORDS = (
    "cat dog mouse horse cow bird fish run walk jump swim fly car train bus boat road wheel engine "
    "ship plane house garden tree flower river mountain bread cheese apple water music song piano"
).split()


def sound(kind=Anonymizer, **chosen):
    """Build a small correct program with 34 words."""
    normal = np.random.default_rng(1).normal(size=(len(WORDS), 8))
    vectors = WordVectors.quantize(WORDS, normal)
    default = {"vectors": vectors, "vocabulary": WORDS, "length": 20, "neighbours": 1, "loss": 3.0}
    return kind.build(Settings(**{**default, **chosen}))


def with_mechanism(kind, **chosen):
    """Build the small program with a mechanism of another class over the same table."""
    subject = sound(**chosen)
    mechanism = kind.__new__(kind)
    vars(mechanism).update(vars(subject.mechanism))
    return replace(subject, mechanism=mechanism)


# Broken mechanisms


class Zero(NeighbourhoodMechanism):
    """One weight is zero: this word is never replaced by that output."""

    def weights(self, row):
        weights = super().weights(row)
        if row == 0:
            rarest, best = weights.argmin(), weights.argmax()
            weights[best] += weights[rarest]
            weights[rarest] = 0
        return weights

    def sample(self, rows, **more):
        drawn, row = super().sample(rows, **more), self.weights(0)
        drawn[(np.asarray(rows) == 0) & (drawn == row.argmin())] = row.argmax()
        return drawn


class HiddenZero(NeighbourhoodMechanism):
    """The table is correct, but the sampler never reaches its last output."""

    def sample(self, rows, **more):
        return np.minimum(super().sample(rows, **more), self.shape[1] - 2)


class Remembering(NeighbourhoodMechanism):
    """Entropy is read once and kept: every call uses the same bytes."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        kept = vars(self).setdefault("kept", {})

        def again(size):
            return kept.get(size) or kept.setdefault(size, source(size))

        return super().sample(rows, source=again, progress=progress)


class OwnGenerator(NeighbourhoodMechanism):
    """The object has its own generator: forked and pickled copies repeat its numbers."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        generator = vars(self).setdefault("generator", np.random.default_rng())
        return super().sample(rows, source=generator.bytes, progress=progress)


class OffByOne(ExponentialMechanism):
    """The cumulative row is searched from the wrong side: one integer gives another output."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        rows = np.asarray(rows)
        points = entropy.integers(source, rows.size, self.total.bit_length() - 1)
        flat, drawn = rows.ravel(), np.empty(rows.size, dtype=np.intp)
        for row in np.unique(flat):
            upto = np.cumsum(self.weights(row))
            drawn[flat == row] = np.searchsorted(upto, points[flat == row], side="left")
        return drawn.reshape(rows.shape)


class FloatingPoint(ExponentialMechanism):
    """A number with 53 bits is searched in a cumulative row of floating-point numbers."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        rows = np.asarray(rows)
        points = entropy.integers(source, rows.size, 53) * 2.0**-53
        flat, drawn = rows.ravel(), np.empty(rows.size, dtype=np.intp)
        for row in np.unique(flat):
            upto = np.cumsum(self.weights(row) / self.total)
            found = np.searchsorted(upto, points[flat == row], side="right")
            drawn[flat == row] = np.minimum(found, len(upto) - 1)
        return drawn.reshape(rows.shape)


class Modulo(NeighbourhoodMechanism):
    """An empty document draws one byte modulo the number of outputs."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        rows = np.asarray(rows)
        raw = source(8 * rows.size)
        drawn = super().sample(rows, source=lambda size: raw, progress=progress)
        byte = np.frombuffer(raw, dtype="<u8").reshape(rows.shape) >> np.uint64(56)
        return np.where(rows == self.shape[0] - 1, byte.astype(np.intp) % self.shape[1], drawn)


class Rejecting(NeighbourhoodMechanism):
    """Draw again if the word stays the same: the entropy use depends on the word."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        drawn = super().sample(rows, source=source, progress=progress)
        again = drawn == np.asarray(rows)
        if again.any():
            drawn[again] = super().sample(np.asarray(rows)[again], source=source)
        return drawn


class Stale(NeighbourhoodMechanism):
    """Draw from a table for 10 % more ε than the table whose loss was measured."""

    @cached_property
    def other(self):
        return NeighbourhoodMechanism(
            self._neighbours,
            outputs=self.shape[1],
            epsilon=1.1 * self.epsilon,
            total_bits=self.total.bit_length() - 1,
        )

    def sample(self, rows, **more):
        return self.other.sample(rows, **more)


def another_loss():
    """Report the loss and the ratio of a table for half of ε."""
    subject = sound()
    half = sound(loss=1.5).mechanism
    subject.mechanism.ratio, subject.mechanism.loss = half.ratio, half.loss
    return subject


# Broken programs around a correct mechanism


class Echo(Anonymizer):
    """An unknown word gets a column of its own."""

    def anonymize(self, texts, **more):
        counts = super().anonymize(texts, **more)
        new = [word for text in texts for word in tokenize(text) if self.term(word) is None]
        outputs = [*self.vocabulary.outputs, *dict.fromkeys(new)]
        columns = [[text.split().count(word) for word in dict.fromkeys(new)] for text in texts]
        self.vocabulary = replace(self.vocabulary, outputs=outputs)
        return (
            hstack([counts, csr_matrix(columns, dtype=np.int32)], format="csr") if new else counts
        )


class Hashed(Anonymizer):
    """An unknown word is hashed to a column, without a draw."""

    def anonymize(self, texts, **more):
        counts = super().anonymize(texts, **more).tolil()
        for place, text in enumerate(texts):
            for word in tokenize(text)[:1]:
                if self.term(word) is None:
                    counts[place, counts[place].rows[0][0]] -= 1
                    counts[place, crc32(word.encode()) % counts.shape[1]] += 1
        return counts.tocsr()


class Following(Anonymizer):
    """A short document gets only as many words as it has."""

    def anonymize(self, texts, **more):
        made = super().anonymize(texts, **more).toarray()
        for text, counts in zip(texts, made, strict=True):
            surplus = self.settings.length - max(1, len(tokenize(text)))
            for _ in range(surplus):
                counts[counts.argmax()] -= 1
        return csr_matrix(made)


class SharedStream(Anonymizer):
    """All documents of a run use the entropy of the first one."""

    def draw_rows(self, documents, **more):
        size = 8 * self.settings.length
        first = self.source(size)
        again = replace(self, source=lambda asked: (first * (asked // size + 1))[:asked])
        return Anonymizer.draw_rows(again, documents)


class OneOffset(Anonymizer):
    """Systematic draws start at the same offset in all documents of a run."""

    def draw_rows(self, documents, **more):
        offset = self.source(8)
        length, asked = self.settings.length, []

        def source(size):
            asked.append(size)
            return offset * (size // 8) if len(asked) == 1 else self.source(size)

        return synthesize(
            documents, self.mechanism, length=length, weights=self.weights, systematic=True,
            source=source,
        )  # fmt: skip


class OneDraw(Anonymizer):
    """All words of a document use the same eight bytes."""

    def draw_rows(self, documents, **more):
        terms = draw_terms(documents, self.settings.length, self.source, self.weights)
        own = [self.source(8) for _ in terms]
        words = [
            self.mechanism.sample(row, source=lambda size, eight=eight: eight * (size // 8))
            for row, eight in zip(terms, own, strict=True)
        ]
        counts = [np.bincount(row, minlength=self.mechanism.shape[1]) for row in words]
        return csr_matrix(np.array(counts, dtype=np.int32))


class Strict(Anonymizer):
    """Raise an error for a text that cannot be encoded: the error depends on a document."""

    def anonymize(self, texts, **more):
        for text in texts:
            text.encode("utf-8")
        return super().anonymize(texts, **more)


class Misled(Anonymizer):
    """The guarantee belongs to a mechanism that is not used."""

    def guarantee(self, **more):
        other = sound(loss=2.0).mechanism
        return Anonymizer.guarantee(replace(self, mechanism=other), **more)


class RoundedDown(Anonymizer):
    """The loss per document is rounded down."""

    def guarantee(self, **more):
        guarantee = super().guarantee(**more)
        return replace(guarantee, loss_per_document=float(np.floor(guarantee.loss_per_document)))


class UndeclaredSeed(Anonymizer):
    """A seeded run is marked as private."""

    def guarantee(self, **more):
        return replace(super().guarantee(**more), private=True)


def seeded():
    subject = sound(UndeclaredSeed)
    subject.source = entropy.Seeded(7)
    return subject


class ReusedEntropy(Anonymizer):
    """From the second large batch on, the entropy of the first one is used again."""

    def draw_rows(self, documents, *, source=None, **more):
        if len(documents) < 1000:
            return super().draw_rows(documents, source=source, **more)
        kept, calls = vars(self).setdefault("kept_entropy", {}), iter(range(9))

        def again(size):
            call = next(calls)
            if len(kept.get(call, b"")) < size:
                kept[call] = (source or self.source)(size)
            return kept[call][:size]

        return super().draw_rows(documents, source=again, **more)


# A correct program with a broken way from the input files to the release


@contextmanager
def replaced(place, name, function):
    """The small program while a function of the product is replaced.

    `function` gets the original function and its arguments.
    """
    original = getattr(place, name)
    with patch.object(place, name, lambda *args, **named: function(original, *args, **named)):
        yield sound()


def idle_shuffle(original, read, shards, scratch, source):
    return map(read, range(shards))


@contextmanager
def with_texts_seen(change):
    """The small program while `change` may use the texts that were read, in `seen`."""
    seen, original = [], columns.texts

    def texts(frame, column):
        found = original(frame, column)
        seen[:] = [max([*seen, *found], key=len)]
        return found

    with patch.object(columns, "texts", texts), change(seen):
        yield sound()


def text_in_comment(seen):
    original = archive.write

    def write(file, members):
        original(file, members)
        comment = seen[0].encode()[:1000]
        file.seek(-2, 2)
        file.write(struct.pack("<H", len(comment)) + comment)

    return patch.object(archive, "write", write)


def length_in_readme(seen):
    original = folder.render_readme
    return patch.object(
        folder, "render_readme", lambda *args: original(*args) + f"Longest text: {len(seen[0])}\n"
    )


def mark_in_guarantee(seen):
    original = folder.write_all

    def write_all(path, names, shards, vocabulary, guarantee, *more):
        def read_first():
            yield from shards
            if "zqxvkanari" in seen[0]:
                guarantee.provenance["vocabulary"] = "fitted"

        return original(path, names, read_first(), vocabulary, guarantee, *more)

    return patch.object(folder, "write_all", write_all)


def frames_changed(change):
    """The small program while the batches of every input are changed."""

    def batches(original, corpus):
        return (Rows.of(change(batch.frame())) for batch in original(corpus))

    return replaced(Corpus, "_batches", batches)


def split_at_carriage_return(frame):
    return frame.with_columns(pl.col("text").str.split("\r")).explode("text")


def without_missing_texts(original, corpus, rows):
    return original(corpus, Rows.of(rows.frame().filter(pl.col("text").is_not_null())))


def numbers_inferred(original, rows, *which):
    """If one text is a number, all are read as numbers."""
    found = original(rows, *which)
    return ["nan" if not text.isdigit() else text for text in found] if "17" in found else found


GRADED = {"neighbours": None, "loss": None, "epsilon": 12.0}

BROKEN = {
    "a zero probability": (lambda: with_mechanism(Zero), "table distinguisher guarantee"),
    "entropy that is used again": (lambda: with_mechanism(Remembering), "sampler replay release"),
    "an unknown word that is echoed": (lambda: sound(Echo), "replay vocabulary guarantee"),
    "a length that depends on the document": (lambda: sound(Following), "replay vocabulary"),
    "a loss computed for another table": (another_loss, "table distinguisher guarantee"),
    "a guarantee for another mechanism": (lambda: sound(Misled), "guarantee"),
    "an output that the sampler never reaches": (
        lambda: with_mechanism(HiddenZero),
        "sampler draws",
    ),
    "an off-by-one error in the search of a row": (
        lambda: with_mechanism(OffByOne, **GRADED),
        "sampler",
    ),
    "draws with 53-bit floating-point numbers": (
        lambda: with_mechanism(FloatingPoint, **GRADED),
        "sampler",
    ),
    "a byte modulo the number of outputs": (lambda: with_mechanism(Modulo), "sampler draws"),
    "a draw repeated until the word changes": (
        lambda: with_mechanism(Rejecting),
        "sampler draws replay",
    ),
    "draws from a table for ε × 1.1": (lambda: with_mechanism(Stale), "sampler draws"),
    "a generator that forks copy": (
        lambda: with_mechanism(OwnGenerator),
        "sampler replay vocabulary release",
    ),
    "an unknown word hashed to a column": (lambda: sound(Hashed), "vocabulary"),
    "the same entropy for all documents": (lambda: sound(SharedStream), "replay release"),
    "one systematic offset for all documents": (
        lambda: sound(OneOffset, draws="systematic"),
        "replay",
    ),
    "one draw for all words of a document": (lambda: sound(OneDraw), "replay"),
    "an error for a text that cannot be encoded": (lambda: sound(Strict), "replay"),
    "a loss per document that is rounded down": (
        lambda: sound(RoundedDown, **GRADED),
        "guarantee",
    ),
    "a seed that is not declared": (seeded, "replay guarantee"),
    "entropy that is used again after the first batch": (lambda: sound(ReusedEntropy), "release"),
    "a shuffle that does nothing": (
        lambda: replaced(draft, "shuffled", idle_shuffle),
        "release",
    ),
    "a text in the comment of an archive": (lambda: with_texts_seen(text_in_comment), "release"),
    "types inferred from all texts": (
        lambda: replaced(Rows, "strings", numbers_inferred),
        "release",
    ),
    "a text split at a carriage return": (
        lambda: frames_changed(split_at_carriage_return),
        "release",
    ),
    "a guarantee that depends on the texts": (
        lambda: with_texts_seen(mark_in_guarantee),
        "release",
    ),
    "a missing text that is left out": (
        lambda: replaced(Corpus, "_wanted", without_missing_texts),
        "release",
    ),
    "a column type that tells the order of documents": (
        lambda: replaced(columns, "without_categories", lambda original, values: values),
        "release",
    ),
    "the length of a text in the README": (lambda: with_texts_seen(length_in_readme), "release"),
}
"""What is broken: how to build it, and the checks that fail every time."""


@contextmanager
def broken(name):
    """The broken program, for as long as the context lasts."""
    program = BROKEN[name][0]()
    with program if hasattr(program, "__enter__") else nullcontext(program) as subject:
        yield subject


def caught(name):
    """Return the checks that fail on a broken program, with the first fault of each."""
    with broken(name) as subject:
        return failures(audit(subject, draws=50_000), declared(name))


def failures(results, wanted):
    """Return the checks that fail, with their first fault, until those that are wanted did."""
    found = {}
    for result in results:
        if result.faults:
            found[result.check] = result.faults[0]
        if found.keys() >= {*wanted}:
            break
    return found


def table(checks, programs=BROKEN):
    """Return a Markdown table of what is broken and which checks fail."""
    rows = [f"| {name} | {', '.join(checks(name))} |\n" for name in programs]
    return "".join(["| broken on purpose | checks that fail |\n", "|---|---|\n", *rows])


def declared(name, programs=BROKEN):
    """Return the checks that must fail on a broken program."""
    return programs[name][1].split()


if __name__ == "__main__":
    sys.stdout.write(table(lambda name: list(filter(caught(name).__contains__, declared(name)))))
