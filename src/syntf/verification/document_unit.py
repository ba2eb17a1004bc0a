"""Derive the lists of a release of the document unit again, and check its loss.

The general list follows from the codebook, the loss and the number of documents. The sharpened
list follows from the general list and the released answers of the pilot. Both are integers and
come out the same on every machine. So nothing that the sender says about them is believed.

The plan of a release is compared before anything is derived, so that a hostile guarantee cannot
ask for more work than its codebook and its rows are worth.
"""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np

from syntf.codebook.codebook import Codebook
from syntf.codebook.encoder import Encoder
from syntf.codebook.lists import ROUNDS, EntryList
from syntf.codebook.several import joint_encoder
from syntf.core.choices import SPACY
from syntf.core.errors import SyntfError
from syntf.core.exact import log_up, shown
from syntf.pipeline.document import WORD_VECTORS, DocumentMechanism
from syntf.privacy.guarantee import DocumentUnit, Guarantee
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.result import UNVERIFIABLE, Finding, NotCheckedError
from syntf.verification.table import QUICK_WORK, WORK_PER_SECOND, language_is_stated


def unit_of(guarantee: Guarantee) -> DocumentUnit:
    """Return how the loss of a document is spent."""
    if guarantee.document is None:
        raise SyntfError("document is missing in a guarantee of the document unit")
    return guarantee.document


def check_document_consistency(guarantee: Guarantee) -> Finding:
    """Check the fields that follow from other fields, `private` among them."""
    unit, supplied, origins = unit_of(guarantee), guarantee.supplied, guarantee.provenance
    private_codebook = unit.codebook_origin == "private"
    for name, holds in (
        ("epsilon", guarantee.epsilon == guarantee.loss_per_document),
        ("length", guarantee.length == unit.draws),
        ("neighbours", guarantee.neighbours is None),
        ("spelling", guarantee.spelling == 0),
        ("synsets", not guarantee.synsets),
        ("weights", guarantee.weights == "topical"),
        ("draws", guarantee.draws == "independent"),
        ("inputs", guarantee.inputs == "vectors"),
        ("loss_per_word", guarantee.loss_per_word is None),
        ("provenance", (origins["vocabulary"] == "fitted") == private_codebook),
        ("provenance", "fitted" not in [origins[one] for one in ("vectors", "stop_words", "idf")]),
        ("supplied", ("codebook" in supplied) == (unit.codebook_origin in ("supplied", "private"))),
        ("supplied", unit.codebook_origin != "embedded" or "language" not in supplied),
        ("supplied", unit.codebook_origin != "language" or "language" in supplied),
        ("supplied", ("encoder" in supplied) == (unit.encoder != WORD_VECTORS)),
        ("supplied", ("analyzer" in supplied) == guarantee.analyzer.startswith(SPACY)),
        ("language", language_is_stated(guarantee)),
        ("supplied", not {"vocabulary", "wordnet"} & {*supplied}),
        ("document", bool(unit.pilot) == bool(unit.sharpened)),
        ("private", guarantee.private is not (guarantee.seeded or private_codebook)),
    ):
        if not holds:
            raise SyntfError(f"{name} does not follow from the other fields")
    return Finding("private" if guarantee.private else "marked NOT PRIVATE, as its fields require")


def check_codebook(guarantee: Guarantee, vectors: WordVectors, given: Path | None) -> Finding:
    """Check the digest of the codebook; the value of the finding is the encoder.

    given : the codebook of the release, if it is none of those embedded in syntf.
    """
    unit = unit_of(guarantee)
    if guarantee.input_size != len(vectors.words):
        raise SyntfError(f"input_size must be {len(vectors.words):,}, the number of word vectors")
    public = unit.codebook_origin in ("embedded", "language")
    if not public and given is None:
        raise NotCheckedError(
            "the release was made with a codebook that its sender supplied: give its file with "
            "--codebook"
        )
    if unit.codebook_origin == "language" and vectors.packs:
        codebook = joint_encoder(vectors).codebook
    elif unit.codebook_origin == "language" and vectors.pack is not None:
        codebook = Codebook.of_pack(vectors.pack)
    else:
        codebook = Codebook.embedded() if public or given is None else Codebook.read(given)
        if public and unit.codebook != f"sha256:{codebook.digest}":
            codebook = Codebook.opinions()
    if unit.codebook != f"sha256:{codebook.digest}":
        raise SyntfError("the release was made with another codebook than this one")
    if unit.encoder != (codebook.encoder or WORD_VECTORS):
        raise SyntfError("the encoder is not the one that the codebook was built with")
    if unit.codebook_origin != codebook.origin:
        raise SyntfError(f"the codebook is {codebook.origin}, not {unit.codebook_origin}")
    encoder = Encoder(codebook, vectors)
    size = f"{int(np.count_nonzero(codebook.leaves)):,} prototypes"
    if public:
        where = "of the language pack" if codebook.origin == "language" else "embedded in syntf"
        return Finding(f"{size}, {where}", encoder)
    if codebook.origin == "private":
        detail = "made from texts that are not public, which voids the guarantee"
    else:
        detail = "public on the word of whoever supplied it"
    return Finding(f"{size}, from the given file; {detail}", encoder, UNVERIFIABLE)


def check_columns(terms: Sequence[str], encoder: Encoder) -> Finding:
    """Check that the terms of vocabulary.txt are the output words of the codebook."""
    if encoder.terms != terms:
        raise SyntfError("the terms of vocabulary.txt are not the output words of the codebook")
    return Finding(f"{len(terms):,} output words of the codebook")


def check_plan(guarantee: Guarantee, encoder: Encoder, documents: int) -> Finding:
    """Check how the loss is spent; the value of the finding is the mechanism.

    The plan follows from the loss and the number of documents alone, and from whether there was a
    pilot, which a sender may leave out.
    """
    unit = unit_of(guarantee)
    mechanism = DocumentMechanism.build(
        encoder, guarantee.loss_per_document, documents, pilot=unit.pilot > 0
    )
    plan = mechanism.plan
    for name, stated, derived in (
        ("kind", unit.kind, plan.kind),
        ("draws", unit.draws, plan.draws),
        ("loss_per_draw", unit.loss_per_draw, plan.loss_per_draw),
        ("size", unit.size, plan.size),
        ("pilot", unit.pilot, plan.pilot),
        ("sharpened_entries", unit.sharpened_entries, plan.pilot and plan.sharpened_entries),
        ("sharpened_size", unit.sharpened_size, plan.pilot and plan.sharpened_size),
    ):
        if stated != derived:
            raise SyntfError(
                f"{name} is {stated}, but must be {derived} for this loss and "
                f"{documents:,} documents"
            )
    pilot = f"a pilot of {plan.pilot:,} documents" if plan.pilot else "no pilot"
    several = "one answer" if plan.draws == 1 else f"{plan.draws:,} answers"
    detail = f"{several} per document among {unit.entries:,} {plan.kind}, {pilot}"
    return Finding(detail, mechanism)


def derive_general_list(guarantee: Guarantee, mechanism: DocumentMechanism, slow: bool) -> None:
    """Derive the general list from the codebook and compare its digest.

    Raises NotCheckedError if this would take long, unless `slow`.
    """
    book, plan = mechanism.encoder.codebook, mechanism.plan
    if plan.kind == "topics":
        work = len(book.nodes) * max(plan.entries, plan.sharpened_entries) * ROUNDS
    else:
        work = plan.entries * min(plan.entries, plan.pilot * plan.draws * plan.size)
    work += max(plan.entries, plan.sharpened_entries) * len(mechanism.terms)  # term profiles
    work *= book.dimensions
    if work > QUICK_WORK and not slow:
        raise NotCheckedError(
            f"deriving the lists takes about {work / WORK_PER_SECOND:,.0f} s of processor time: "
            "add --slow to do it"
        )
    unit = unit_of(guarantee)
    if len(mechanism.general) != unit.entries:
        raise SyntfError(f"the general list has {len(mechanism.general):,} entries")
    if unit.general != f"sha256:{mechanism.general.digest}":
        raise SyntfError("the digest of the general list is not that of the list derived here")


def check_loss(
    guarantee: Guarantee, mechanism: DocumentMechanism, lists: Sequence[EntryList]
) -> Finding:
    """Check that the exact loss of the draws from each list is at most the loss promised."""
    first = mechanism.response(mechanism.general)
    for name, holds in (
        ("mechanism", guarantee.mechanism == first.scheme),
        ("digest", guarantee.digest == f"sha256:{first.digest}"),
        ("loss_ratio", guarantee.loss_ratio == str(first.ratio)),
    ):
        if not holds:
            raise SyntfError(f"{name} is not that of the randomised response over the general list")
    promised = guarantee.loss_per_document
    for entry_list in lists:
        each = log_up(mechanism.response(entry_list).ratio)
        if Fraction(each) * mechanism.plan.draws > Fraction(promised):
            raise SyntfError(f"the draws lose more than {shown(promised, 2)} together")
    return Finding(f"{shown(promised, 2)}, kept to exactly by the integers of the mechanism")
