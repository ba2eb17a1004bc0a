"""Programs broken on purpose, each in a way that has happened somewhere: the audit must see it.

``python tests/audit/broken.py`` prints the table of ``docs/audit.md``: what is broken, and which
checks
of the audit fail.
"""

import sys
from dataclasses import replace
from functools import cached_property
from zlib import crc32

import numpy as np
from scipy.sparse import csr_matrix, hstack

from syntf.audit import audit
from syntf.core import entropy
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.synthesis import draw_terms, synthesize
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text.tokenizer import tokenize
from syntf.vectors.word_vectors import WordVectors

WORDS = (
    "cat dog mouse horse cow bird fish run walk jump swim fly car train bus boat road wheel engine "
    "ship plane house garden tree flower river mountain bread cheese apple water music song piano"
).split()


def sound(kind=Anonymizer, **chosen):
    """A small program in order, of 34 words."""
    normal = np.random.default_rng(1).normal(size=(len(WORDS), 8))
    vectors = WordVectors.quantize(WORDS, normal)
    given = {"vectors": vectors, "vocabulary": WORDS, "length": 20, "neighbours": 1, "loss": 3.0}
    return kind.build(Settings(**{**given, **chosen}))


def remade(kind, **chosen):
    """The same program with a mechanism of this make over the same table."""
    subject = sound(**chosen)
    mechanism = kind.__new__(kind)
    vars(mechanism).update(vars(subject.mechanism))
    return replace(subject, mechanism=mechanism)


# Broken mechanisms


class Zero(NeighbourhoodMechanism):
    """One word never becomes one of the outputs: its row has a zero, and is drawn from as it is."""

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
    """The table is in order, but the sampler never reaches its last output."""

    def sample(self, rows, **more):
        return np.minimum(super().sample(rows, **more), self.shape[1] - 2)


class Remembering(NeighbourhoodMechanism):
    """Entropy is fetched once and kept: every call uses the same bytes again."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        kept = vars(self).setdefault("kept", {})

        def again(size):
            return kept.get(size) or kept.setdefault(size, source(size))

        return super().sample(rows, source=again, progress=progress)


class OwnGenerator(NeighbourhoodMechanism):
    """A generator inside the object: forked and pickled copies go on with the same stream."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        generator = vars(self).setdefault("generator", np.random.default_rng())
        return super().sample(rows, source=generator.bytes, progress=progress)


class OffByOne(ExponentialMechanism):
    """The cumulative row is searched from the wrong side: one integer too many for the first."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        rows = np.asarray(rows)
        points = entropy.integers(source, rows.size, self.total.bit_length() - 1)
        flat, drawn = rows.ravel(), np.empty(rows.size, dtype=np.intp)
        for row in np.unique(flat):
            upto = np.cumsum(self.weights(row))
            drawn[flat == row] = np.searchsorted(upto, points[flat == row], side="left")
        return drawn.reshape(rows.shape)


class FloatingPoint(ExponentialMechanism):
    """A 53-bit number in [0, 1) looked up in a cumulative row of floating-point numbers."""

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
    """For the document without a known word: one byte modulo the number of outputs."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        rows = np.asarray(rows)
        raw = source(8 * rows.size)
        drawn = super().sample(rows, source=lambda size: raw, progress=progress)
        byte = np.frombuffer(raw, dtype="<u8").reshape(rows.shape) >> np.uint64(56)
        return np.where(rows == self.shape[0] - 1, byte.astype(np.intp) % self.shape[1], drawn)


class Rejecting(NeighbourhoodMechanism):
    """Draws again while the word stays what it was: how much entropy is read tells the word."""

    def sample(self, rows, *, source=entropy.system, progress=None):
        drawn = super().sample(rows, source=source, progress=progress)
        again = drawn == np.asarray(rows)
        if again.any():
            drawn[again] = super().sample(np.asarray(rows)[again], source=source)
        return drawn


class Stale(NeighbourhoodMechanism):
    """Draws from a table that was made for a tenth more ε; accounts for this one."""

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
    """The loss, the ratio and the digest of a table for half of ε."""
    subject = sound()
    half = sound(loss=1.5).mechanism
    subject.mechanism.ratio, subject.mechanism.loss = half.ratio, half.loss
    return subject


# Broken programs around a sound mechanism


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
    """A short document gets as few words as it has."""

    def anonymize(self, texts, **more):
        made = super().anonymize(texts, **more).toarray()
        for text, counts in zip(texts, made, strict=True):
            surplus = self.settings.length - max(1, len(tokenize(text)))
            for _ in range(surplus):
                counts[counts.argmax()] -= 1
        return csr_matrix(made)


class SharedStream(Anonymizer):
    """All documents of a run are drawn with the entropy of the first."""

    def draw_rows(self, documents, **more):
        size = 8 * self.settings.length
        first = self.source(size)
        again = replace(self, source=lambda asked: (first * (asked // size + 1))[:asked])
        return Anonymizer.draw_rows(again, documents, **more)


class OneOffset(Anonymizer):
    """Systematic draws that begin at the same offset in all documents of a run."""

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
    """All words of a document are drawn with the same eight bytes."""

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
    """Refuses a text that cannot be encoded: the error tells of a document."""

    def anonymize(self, texts, **more):
        for text in texts:
            text.encode("utf-8")
        return super().anonymize(texts, **more)


class Misled(Anonymizer):
    """The guarantee is that of a mechanism which does not draw."""

    def guarantee(self, **more):
        other = sound(loss=2.0).mechanism
        return Anonymizer.guarantee(replace(self, mechanism=other), **more)


class RoundedDown(Anonymizer):
    """The loss of a document as people like to read it."""

    def guarantee(self, **more):
        said = super().guarantee(**more)
        return replace(said, loss_per_document=float(np.floor(said.loss_per_document)))


class Unconfessed(Anonymizer):
    """A seeded run that calls itself private."""

    def guarantee(self, **more):
        return replace(super().guarantee(**more), private=True)


def seeded():
    subject = sound(Unconfessed)
    subject.source = entropy.Seeded(7)
    return subject


GRADED = {"neighbours": None, "loss": None, "epsilon": 12.0}

BROKEN = {
    "a zero probability": (lambda: remade(Zero), "table distinguisher guarantee"),
    "a reused stream": (lambda: remade(Remembering), "sampler replay"),
    "an echoed unknown word": (lambda: sound(Echo), "replay vocabulary guarantee"),
    "a length that follows the document": (lambda: sound(Following), "replay vocabulary"),
    "a loss computed for another table": (another_loss, "table distinguisher guarantee"),
    "a guarantee for another mechanism": (lambda: sound(Misled), "guarantee"),
    "an output that the sampler never reaches": (lambda: remade(HiddenZero), "sampler draws"),
    "an off-by-one in the search of a row": (lambda: remade(OffByOne, **GRADED), "sampler"),
    "a 53-bit floating-point draw": (lambda: remade(FloatingPoint, **GRADED), "sampler"),
    "a byte modulo the number of outputs": (lambda: remade(Modulo), "sampler draws"),
    "a draw repeated until the word changes": (lambda: remade(Rejecting), "sampler draws replay"),
    "draws from a table for ε × 1.1": (lambda: remade(Stale), "sampler draws"),
    "a generator that forks copy": (lambda: remade(OwnGenerator), "sampler replay vocabulary"),
    "an unknown word hashed to a column": (lambda: sound(Hashed), "vocabulary"),
    "one stream for all documents": (lambda: sound(SharedStream), "replay"),
    "one systematic offset for all documents": (
        lambda: sound(OneOffset, draws="systematic"),
        "replay",
    ),
    "one draw for all words of a document": (lambda: sound(OneDraw), "replay"),
    "an error on a text that cannot be encoded": (lambda: sound(Strict), "replay"),
    "a loss of a document rounded down": (lambda: sound(RoundedDown, **GRADED), "guarantee"),
    "a seed not confessed": (seeded, "replay guarantee"),
}
"""What is broken: how to make it, and the checks that fail on it every time."""


def caught(name):
    """The checks that fail on a broken program, with the first fault of each."""
    make, _ = BROKEN[name]
    return {found.check: found.faults[0] for found in audit(make(), draws=50_000) if found.faults}


def table(checks):
    """What is broken, and what of the audit fails, as Markdown."""
    rows = [f"| {name} | {', '.join(checks(name))} |\n" for name in BROKEN]
    return "".join(["| broken on purpose | checks that fail |\n", "|---|---|\n", *rows])


def declared(name):
    return BROKEN[name][1].split()


if __name__ == "__main__":
    sys.stdout.write(
        table(lambda name: [check for check in declared(name) if check in caught(name)])
    )
