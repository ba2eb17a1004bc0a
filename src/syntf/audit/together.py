"""Check documents that are released together: one influences others only through its own row."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

import numpy as np

from syntf.audit.replay import CANARIES
from syntf.audit.result import CheckResult
from syntf.audit.subject import ALL_BITS, Recording
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism, Drawn

Texts = Sequence[str]


def some_texts(subject: DocumentAnonymizer, count: int) -> list[str]:
    """Return texts on different topics: neighbouring output words, three to a text."""
    words = list(subject.outputs)
    return [
        " ".join(words[(7 * place + more) % len(words)] for more in range(3))
        for place in range(count)
    ]


class ReplayedReleases:
    """Releases texts together with recorded entropy, which starts again with every call."""

    def __init__(self, subject: DocumentAnonymizer) -> None:
        self.subject = subject

    def release(
        self, texts: Texts, flip: tuple[int, bytes] | None = None
    ) -> tuple[Drawn, list[int], DocumentMechanism]:
        """Return what was drawn, the size of each call for entropy, and the mechanism."""
        recording = Recording(flip)
        mechanism = replace(self.subject, source=recording).mechanism(len(texts))
        return mechanism.release(self.subject.read(texts)), recording.sizes, mechanism


def check_together(program: ReplayedReleases, texts: list[str]) -> CheckResult:
    """Exchange one text of many that are released together with the same recorded entropy."""
    result = CheckResult(
        "replay",
        f"{len(texts):,} documents released together, with a pilot, with the same recorded "
        "entropy: one of them is exchanged for very different texts. Other documents may change "
        "only through the row that it released. Bytes read, and which bytes change which row.",
        "documents that change others, a list sharpened by more than released rows, a pilot that "
        "depends on texts or is drawn twice, entropy that is used twice",
    )
    base, sizes, mechanism = program.release(texts)
    draws = mechanism.plan.draws
    expected = 8 * len(texts) * (draws + (1 if mechanism.plan.pilot else 0))
    result.require(
        sum(sizes) == expected,
        f"{len(texts):,} documents read {sum(sizes):,} bytes of entropy, not {expected:,}",
    )
    result.require(
        int(base.pilot.sum()) == mechanism.plan.pilot, "the pilot has another size than planned"
    )
    if base.sharpened is not None:
        reference = DocumentMechanism(mechanism.encoder, mechanism.loss, mechanism.plan)
        again = reference.sharpen(base.answers[base.pilot])
        result.require(
            again.digest == base.sharpened.digest,
            "the sharpened list does not follow from the released rows of the pilot",
        )
    others = ["", " ".join(CANARIES), texts[-1] * 50, *texts[1:40:10], "\ud83d\x00…"]
    for is_pilot in sorted({False, bool(base.pilot.any())}):
        place = int(np.flatnonzero(base.pilot == is_pilot)[0])
        _exchange(result, program, texts, place, others, base, sizes)
    _check_own_bytes(result, program, texts, base)
    fresh = [_hash(program.subject.mechanism(len(texts)), program, texts) for _ in range(2)]
    result.require(fresh[0] != fresh[1], "two releases of the same texts are equal")
    result.confirm(f"{len(others)} texts in place of a document of the pilot and of another one")
    return result


def _hash(mechanism: DocumentMechanism, program: ReplayedReleases, texts: Texts) -> bytes:
    answers = mechanism.release(program.subject.read(texts)).answers
    return sha256(answers.tobytes()).digest()


def _exchange(
    result: CheckResult,
    program: ReplayedReleases,
    texts: list[str],
    place: int,
    others: Texts,
    base: Drawn,
    sizes: list[int],
) -> None:
    """Put other texts in one place, and compare everything but the row of that document."""
    seen: dict[bytes, tuple[bytes, str]] = {}
    rest = np.arange(len(texts)) != place
    for text in (texts[place], *others):
        changed = [*texts[:place], text, *texts[place + 1 :]]
        drawn, read, _ = program.release(changed)
        result.require(read == sizes, "a text changes how much entropy is read")
        result.require(
            np.array_equal(drawn.pilot, base.pilot), "a text changes which documents are the pilot"
        )
        same = rest & (base.pilot if base.pilot[place] else True)
        result.require(
            np.array_equal(drawn.answers[same], base.answers[same]),
            "a document changes the rows of others otherwise than through its own row",
        )
        found = drawn.answers[rest].tobytes(), drawn.sharpened.digest if drawn.sharpened else ""
        before = seen.setdefault(drawn.answers[place].tobytes(), found)
        result.require(
            before == found, "two texts with the same released row change other documents"
        )


def _check_own_bytes(
    result: CheckResult, program: ReplayedReleases, texts: list[str], base: Drawn
) -> None:
    """Change groups of eight bytes at the end: each changes the answers of one document at most."""
    for back in range(1, 7):
        block = len(texts) * (base.answers.shape[1] + bool(base.pilot.any())) - back
        again, _, _ = program.release(texts, (block, ALL_BITS))
        changed = int((again.answers != base.answers).any(axis=1).sum())
        result.require(changed <= 1, "eight bytes of entropy change two documents")
