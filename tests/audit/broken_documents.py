"""Programs for whole documents that are broken on purpose, each in a way that loses more.

The audit must catch all of them. ``python tests/audit/broken_documents.py`` prints the second table
of ``docs/audit.md``.
"""

import sys
from dataclasses import dataclass, replace
from fractions import Fraction

import broken
import numpy as np

from syntf.audit import audit
from syntf.mechanism.response import ResponseMechanism
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism
from syntf.pipeline.settings import Settings


def sound(kind=DocumentAnonymizer, mechanism=None, **chosen):
    """Build a program for whole documents with the embedded codebook."""
    subject = kind.build(Settings.from_preset("document", **chosen))
    if mechanism is not None:
        subject.__class__ = WithMechanism
        subject.kind = mechanism
    return subject


@dataclass(eq=False)
class WithMechanism(DocumentAnonymizer):
    """A program with a mechanism of another class."""

    kind: type = DocumentMechanism

    def mechanism(self, documents):
        found = super().mechanism(documents)
        return self.kind(found.encoder, found.loss, found.plan, found.source)


class PilotTwice(DocumentMechanism):
    """Documents of the pilot are drawn twice: once for the list, once for the release."""

    def draw(self, encoded, entry_list):
        if self.plan.pilot and entry_list is self.general:
            self.first = super().draw(encoded, entry_list)
        return super().draw(encoded, entry_list)

    def sharpen(self, released):
        return super().sharpen(self.first)


class SharpenedByTruth(DocumentMechanism):
    """The list is sharpened by the true answers of the pilot, not by its released ones."""

    def draw(self, encoded, entry_list):
        if entry_list is self.general:
            self.true = entry_list.targets(encoded, self.encoder, self.plan.draws)
        return super().draw(encoded, entry_list)

    def sharpen(self, released):
        return super().sharpen(self.true)


class LargerLoss(DocumentMechanism):
    """Every response is made for half as much again as the loss of the document."""

    def response(self, entry_list):
        return ResponseMechanism(entry_list.answers, loss=1.5 * self.plan.loss_per_draw)


class HiddenLoss(DocumentMechanism):
    """Only the draws use a larger loss; what is reported is right."""

    def draw(self, encoded, entry_list):
        targets = entry_list.targets(encoded, self.encoder, self.plan.draws)
        larger = ResponseMechanism(entry_list.answers, loss=1.5 * self.plan.loss_per_draw)
        return larger.sample(targets, source=self.source)


class TwoDraws(DocumentMechanism):
    """Two answers are drawn for a document, and the better one is released."""

    def draw(self, encoded, entry_list):
        targets = entry_list.targets(encoded, self.encoder, self.plan.draws)
        one, other = (super(TwoDraws, self).draw(encoded, entry_list) for _ in range(2))
        return np.where(other == targets, other, one)


class ReplayedEntropy(DocumentMechanism):
    """The entropy of the first draw is used again by every later one."""

    def draw(self, encoded, entry_list):
        kept, original = vars(self).setdefault("kept", []), self.source

        def again(size):
            if not kept or len(kept[0]) < size:
                kept.append(original(size - sum(map(len, kept))))
                kept[:] = [b"".join(kept)]
            return kept[0][:size]

        self.source = again
        try:
            return super().draw(encoded, entry_list)
        finally:
            self.source = original


class TargetInLabel(DocumentMechanism):
    """The label of a document ends with a blank if its true answer was released."""

    def draw(self, encoded, entry_list):
        answers = super().draw(encoded, entry_list)
        true = entry_list.targets(encoded, self.encoder, self.plan.draws)
        self.kept = bool((answers == true).all(axis=1).mean() > 0.5)
        return answers

    def described(self, drawn):
        counts, labels = super().described(drawn)
        return counts, [label + " " * self.kept for label in labels]


class TrueTopics(DocumentMechanism):
    """True answers are released without noise."""

    def draw(self, encoded, entry_list):
        super().draw(encoded, entry_list)
        return entry_list.targets(encoded, self.encoder, self.plan.draws)


class UnevenNoise(DocumentMechanism):
    """Noise spares the last tenth of the list."""

    def draw(self, encoded, entry_list):
        answers = super().draw(encoded, entry_list)
        true = entry_list.targets(encoded, self.encoder, self.plan.draws)
        spared = (answers >= 0.9 * entry_list.answers) & (answers != true)
        return np.where(spared, answers // 2, answers)


class PilotByLength(DocumentMechanism):
    """The documents with the most words are the pilot."""

    def release(self, encoded):
        self.sizes = np.diff(encoded.counts.indptr)
        return super().release(encoded)

    def choose_pilot(self, documents):
        chosen = super().choose_pilot(documents)
        order = np.argsort(-self.sizes, kind="stable")[: int(chosen.sum())]
        return np.isin(np.arange(documents), order)


class BatchStatistics(DocumentAnonymizer):
    """Documents are centred by the mean of all documents that are read together."""

    def read(self, texts, **more):
        found = super().read(texts, **more)
        if not len(found):
            return found
        return replace(found, vectors=found.vectors - found.vectors.mean(axis=0).astype(np.int16))


class RoundedDown(DocumentAnonymizer):
    """The guarantee states a smaller loss than the one that is spent."""

    def guarantee(self, mechanism=None, **more):
        found = super().guarantee(mechanism, **more)
        less = float(Fraction(9, 10) * Fraction(found.loss_per_document))
        return replace(found, loss_per_document=less, epsilon=less)


class UndeclaredSeed(DocumentAnonymizer):
    """A seeded run is marked as private."""

    def guarantee(self, mechanism=None, **more):
        return replace(super().guarantee(mechanism, **more), private=True)


def seeded():
    from syntf.core import entropy

    subject = sound(UndeclaredSeed)
    subject.source = entropy.Seeded(7)
    return subject


BROKEN = {
    "a pilot that is drawn twice": (lambda: sound(mechanism=PilotTwice), "replay release"),
    "a list sharpened by true answers": (
        lambda: sound(mechanism=SharpenedByTruth),
        "replay release",
    ),
    "a larger loss than was asked for": (
        lambda: sound(mechanism=LargerLoss),
        "mechanism guarantee release",
    ),
    "draws with a larger loss than reported": (lambda: sound(mechanism=HiddenLoss), "draws"),
    "the better of two draws": (lambda: sound(mechanism=TwoDraws), "draws replay"),
    "entropy that later draws use again": (
        lambda: sound(mechanism=ReplayedEntropy, document_loss=6.0),
        "replay release",
    ),
    "a true answer shown by a label": (lambda: sound(mechanism=TargetInLabel), "release"),
    "true answers without noise": (
        lambda: sound(mechanism=TrueTopics, document_loss=6.0),
        "draws release",
    ),
    "noise that spares a part of the list": (
        lambda: sound(mechanism=UnevenNoise, document_loss=6.0),
        "draws",
    ),
    "a pilot of the longest documents": (lambda: sound(mechanism=PilotByLength), "replay"),
    "an encoder that looks at the whole batch": (lambda: sound(BatchStatistics), "replay"),
    "a loss per document that is rounded down": (lambda: sound(RoundedDown), "guarantee release"),
    "a seed that is not declared": (seeded, "guarantee"),
}
"""What is broken: how to build it, and the checks that fail every time."""


def caught(name):
    """Return the checks that fail on a broken program, with the first fault of each."""
    results = audit(BROKEN[name][0](), draws=50_000, quick=True)
    return broken.failures(results, declared(name))


def table(checks):
    """Return a Markdown table of what is broken and which checks fail."""
    return broken.table(checks, BROKEN)


def declared(name):
    """Return the checks that must fail on a broken program."""
    return broken.declared(name, BROKEN)


if __name__ == "__main__":
    sys.stdout.write(table(lambda name: list(filter(caught(name).__contains__, declared(name)))))
