"""A closed vocabulary: nothing of a document comes out but words that were there before it."""

from hashlib import sha256

from syntf.audit.finding import Finding
from syntf.audit.replay import unknown
from syntf.audit.subject import Replayed
from syntf.pipeline.anonymizer import Anonymizer


def vocabulary(subject: Anonymizer) -> Finding:
    finding = Finding(
        "vocabulary",
        "Canaries, words that no vocabulary has, alone and a thousand of them: the outputs stay "
        "those of the public list, and from one recorded stream such a document gives what the "
        "empty one gives, word for word.",
        "an unknown word that is echoed, learnt, hashed to a column or counted in the length",
    )
    canaries = unknown(subject)
    if not canaries:
        finding.limits.append("every canary is a word of this vocabulary: nothing could be tried")
        return finding
    before = list(subject.vocabulary.outputs)
    replayed = Replayed(subject)
    empty, _ = replayed("")
    tried = [*canaries, " ".join(canaries), " ".join(canaries * 1000)]
    for text in tried:
        counts, _ = replayed(text)
        same = counts.shape == empty.shape and (counts != empty).nnz == 0
        finding.require(same, "a document of unknown words gives other words than an empty one")
    real = subject.anonymize(tried)
    finding.require(real.shape[1] == len(before), f"{real.shape[1]} columns, not {len(before)}")
    after = list(subject.vocabulary.outputs)
    finding.require(after == before, "the outputs changed with the documents")
    finding.require(not {*canaries} & {*after}, "an unknown word is among the outputs")
    lines = "".join(f"{term}\n" for term in after).encode()
    finding.require(
        subject.guarantee().vocabulary_digest == f"sha256:{sha256(lines).hexdigest()}",
        "the guarantee names another vocabulary",
    )
    finding.confirm(
        f"{len(tried)} documents of {len(canaries)} canaries: only the {len(before):,} outputs, "
        "and what an empty document gives"
    )
    return finding
