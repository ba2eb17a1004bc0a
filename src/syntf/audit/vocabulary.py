"""Check that the vocabulary is closed: only words of the public list are ever released."""

from hashlib import sha256

from syntf.audit.replay import unknown_words
from syntf.audit.result import CheckResult
from syntf.audit.subject import ReplayedProgram
from syntf.pipeline.anonymizer import Anonymizer


def check_vocabulary(subject: Anonymizer) -> CheckResult:
    """Anonymise canaries: words that are in no vocabulary."""
    result = CheckResult(
        "vocabulary",
        "Canaries, words that are in no vocabulary, alone and a thousand at once. The output "
        "words stay those of the public list, and with the same recorded entropy such a document "
        "gives exactly the words of an empty document.",
        "an unknown word that is echoed, learnt, hashed to a column or counted in the length",
    )
    canaries = unknown_words(subject)
    if not canaries:
        result.limits.append("every canary is a word of this vocabulary, so nothing was tried")
        return result
    before = list(subject.vocabulary.outputs)
    program = ReplayedProgram(subject)
    empty, _ = program.anonymize("")
    texts = [*canaries, " ".join(canaries), " ".join(canaries * 1000)]
    for text in texts:
        counts, _ = program.anonymize(text)
        same = counts.shape == empty.shape and (counts != empty).nnz == 0
        result.require(same, "a document of unknown words gives other words than an empty one")
    columns = subject.anonymize(texts).shape[1]
    result.require(columns == len(before), f"{columns} columns instead of {len(before)}")
    after = list(subject.vocabulary.outputs)
    result.require(after == before, "the output words changed with the documents")
    result.require(not {*canaries} & {*after}, "an unknown word is among the output words")
    lines = "".join(f"{term}\n" for term in after).encode()
    result.require(
        subject.guarantee().vocabulary_digest == f"sha256:{sha256(lines).hexdigest()}",
        "the guarantee has the digest of another vocabulary",
    )
    result.confirm(
        f"{len(texts)} documents of {len(canaries)} canaries: only the {len(before):,} output "
        "words, and the same words as for an empty document"
    )
    return result
