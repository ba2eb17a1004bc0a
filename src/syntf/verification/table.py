"""Derive the table of a guarantee again, and check the fields that follow from it."""

from collections.abc import Callable, Sequence
from math import isclose
from os import PathLike

from syntf import __version__
from syntf.core.choices import ANALYZER_SEPARATOR, EMBEDDED, SPACY, SUDACHI
from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.core.parallel import beside
from syntf.core.progress import Stages
from syntf.language import store
from syntf.language.pack import LanguagePack, embedded_pack
from syntf.language.several import SEPARATOR, joint_code, joint_digest
from syntf.mechanism import kernels
from syntf.mechanism.base import Mechanism
from syntf.mechanism.build import build
from syntf.mechanism.rating import WordRating
from syntf.privacy import bounds
from syntf.privacy.guarantee import Guarantee, Language
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.result import UNVERIFIABLE, Finding, NotCheckedError
from syntf.vocabulary.vocabulary import Vocabulary

QUICK_WORK = 10**11
"""Work that is done unasked: passes over the table, of which finding similarities takes ten and
each neighbour one, times its size. This is some 25 seconds on one processor."""

WORK_PER_SECOND = 4 * 10**9

SHORT_WORK = 10**10
"""Work that another thread may do, where Ctrl-C does not end it: a few seconds."""


def check_consistency(guarantee: Guarantee) -> Finding:
    """Check the fields that follow from other fields, `private` among them."""
    origins, supplied = guarantee.provenance, guarantee.supplied
    embedded = origins["vocabulary"] == "public" and "vocabulary" not in supplied
    every_input = guarantee.neighbours is not None or embedded
    for name, holds in (
        ("provenance", "fitted" not in (origins["vectors"], origins["stop_words"])),
        ("provenance", origins["idf"] == "public" or guarantee.weights == "tfidf"),
        ("supplied", ("wordnet" in supplied) == guarantee.synsets),
        ("supplied", ("analyzer" in supplied) == guarantee.analyzer.startswith(SPACY)),
        ("language", language_is_stated(guarantee)),
        ("inputs", guarantee.inputs == ("vectors" if every_input else "outputs")),
        ("private", guarantee.private is not (guarantee.seeded or "fitted" in origins.values())),
    ):
        if not holds:
            raise SyntfError(f"{name} does not follow from the other fields")
    return Finding("private" if guarantee.private else "marked NOT PRIVATE, as its fields require")


def language_is_stated(guarantee: Guarantee) -> bool:
    """Tell whether the language and the analyzer fit what the sender supplied."""
    stated = guarantee.language
    several = stated is not None and SEPARATOR in stated.code
    if several and guarantee.unit != "document":
        return False
    if ANALYZER_SEPARATOR in guarantee.analyzer and not several:
        return False
    if "language" in guarantee.supplied:
        return stated is not None and "vectors" not in guarantee.supplied
    own_version = guarantee.version == __version__
    return not guarantee.analyzer.startswith(SUDACHI) and (
        stated is None
        or (stated.code == EMBEDDED and not own_version)
        or stated == Language(EMBEDDED, f"sha256:{embedded_pack().digest}")
    )


def find_packs(guarantee: Guarantee, given: str | PathLike[str] | None) -> list[LanguagePack]:
    """Return the language packs of a release, mostly one.

    given : the codes or folders of the packs; None to look for them among the installed ones.

    Raises
    ------
    NotCheckedError
        If the pack is not installed.
    SyntfError
        If it is another pack than that of the release.
    """
    stated = guarantee.language
    if stated is None or "language" not in guarantee.supplied:
        return [embedded_pack()]
    digest = stated.digest.removeprefix("sha256:")
    packs = _installed(stated.code, digest) if given is None else store.find_all(given)
    if not packs:
        raise NotCheckedError(
            f"the release was made with a language pack for {stated.code!r} that is not installed "
            f"({stated.digest}): get it and add it with syntf language add, or give its folder "
            "with --language"
        )
    if (joint_code(packs), joint_digest(packs)) != (stated.code, digest):
        raise SyntfError("the release was made with another language pack than this one")
    return packs


def _installed(codes: str, digest: str) -> list[LanguagePack]:
    """Return the installed packs with these codes and this digest; none if one is missing."""
    if SEPARATOR not in codes:
        pack = store.find_by_digest(digest)
        return [] if pack is None else [pack]
    try:
        packs = store.find_all(codes)
    except SyntfError:
        return []
    return packs if joint_digest(packs) == digest else []


def check_vectors(
    guarantee: Guarantee,
    read: Callable[[], WordVectors] | None,
    language: str | PathLike[str] | None = None,
) -> Finding:
    """Check the digest of the word vectors.

    read : returns those that were brought, if any.
    language : the language pack of the release, if it was brought.
    """
    vectors = read() if read else WordVectors.of_packs(find_packs(guarantee, language))
    pack = vectors.pack
    if guarantee.vectors_digest != f"sha256:{vectors.digest}":
        if read or not (pack and pack.is_embedded):
            raise SyntfError("the release was made with other word vectors than these")
        raise SyntfError(
            "the release was made with other word vectors than the embedded ones: give their file "
            "with --vectors"
        )
    if vectors.packs:
        names = joint_code(vectors.packs)
        return Finding(f"{len(vectors.words):,} words of the language packs {names}", vectors)
    if pack and not pack.is_embedded:
        return Finding(f"{len(vectors.words):,} words of the language pack {pack.code}", vectors)
    embedded = read is None or vectors.digest == WordVectors.embedded().digest
    if not embedded and "vectors" not in guarantee.supplied:
        raise SyntfError("supplied does not say that these are not the embedded vectors")
    origin = "embedded in syntf" if embedded else "from the given file"
    return Finding(f"{len(vectors.words):,} words, {origin}", vectors)


def check_words(guarantee: Guarantee, terms: Sequence[str], vectors: WordVectors) -> Finding:
    """Check where the terms come from; the value of the finding is the vocabulary."""
    fitted = guarantee.provenance["vocabulary"] == "fitted"
    if not fitted and "vocabulary" not in guarantee.supplied and not guarantee.synsets:
        return _check_public_list(guarantee, terms, vectors)
    vocabulary = Vocabulary.given(terms, vectors)
    if vocabulary.dropped:
        raise SyntfError(f"{vocabulary.dropped:,} terms of vocabulary.txt have no vector")
    if fitted:
        detail = "the vocabulary is fitted on the texts, which voids the guarantee"
    elif "vocabulary" in guarantee.supplied:
        detail = "the sender says that the vocabulary is public"
    else:
        detail = "the sender says that this is the embedded list with WordNet's synonyms"
    return Finding(detail, vocabulary, UNVERIFIABLE)


def _check_public_list(guarantee: Guarantee, terms: Sequence[str], vectors: WordVectors) -> Finding:
    """Check that the terms are the first of the list of the language."""
    vocabulary = Vocabulary.default(vectors).most_frequent(len(terms))
    if vocabulary.outputs != terms:
        raise SyntfError("supplied does not say that vocabulary.txt is not the embedded list")
    if guarantee.inputs != "vectors":
        vocabulary = Vocabulary.given(terms, vectors)
    where = "of the language pack" if "language" in guarantee.supplied else "embedded in syntf"
    return Finding(f"the first {len(terms):,} of the list {where}", vocabulary)


def work_to_derive(guarantee: Guarantee) -> int:
    """Return the work of deriving the table, in the unit of QUICK_WORK, from the sizes stated."""
    return guarantee.input_size * guarantee.vocabulary_size * (10 + (guarantee.neighbours or 0))


def can_be_derived_beside(guarantee: Guarantee) -> bool:
    """Tell whether another thread may derive the table: it takes seconds, without NumPy's products.

    See :func:`syntf.core.parallel.beside`.
    """
    short = work_to_derive(guarantee) <= SHORT_WORK
    return short and guarantee.neighbours is not None and not kernels.needs_matrix_products()


def derive_table(
    guarantee: Guarantee,
    vocabulary: Vocabulary,
    vectors: WordVectors,
    slow: bool,
    stages: Stages,
) -> Finding:
    """Derive the table without any cache; the value is the mechanism and the vocabulary.

    Raises NotCheckedError if this would take long, unless `slow`.
    """
    if guarantee.inputs == "vectors":
        vocabulary = vocabulary.with_every_input(vectors)
    if guarantee.input_size != len(vocabulary.inputs):
        raise SyntfError(
            f"there are {len(vocabulary.inputs):,} input words, guarantee.json says "
            f"{guarantee.input_size:,}"
        )
    work = work_to_derive(guarantee)
    if work > QUICK_WORK and not slow:
        raise NotCheckedError(
            f"deriving the table takes about {work / WORK_PER_SECOND:,.0f} s of processor time: "
            "add --slow to do it"
        )
    rating = WordRating(
        vocabulary.inputs,
        vectors.at(vocabulary.input_rows),
        vocabulary.outputs,
        vectors.at(vocabulary.output_rows),
        spelling=guarantee.spelling,
    )
    find_digest = beside(lambda: rating.digest)  # no neighbour depends on it
    mechanism = build(
        rating,
        epsilon=guarantee.epsilon,
        neighbours=guarantee.neighbours,
        cache=False,
        stages=stages,
    )
    find_digest()
    if guarantee.mechanism != mechanism.scheme:
        raise SyntfError(f"mechanism must be {mechanism.scheme} with these parameters")
    if guarantee.digest != f"sha256:{mechanism.digest}":
        raise SyntfError("the digest is not that of the table that the parameters give")
    inputs, outputs = mechanism.shape
    return Finding(
        f"{inputs:,} x {outputs:,}, derived again: the same digest",
        (mechanism, vocabulary),
    )


def check_word_loss(guarantee: Guarantee, mechanism: Mechanism) -> Finding:
    """Check the bounds on the loss of one word."""
    stated, size = guarantee.word_losses, guarantee.vocabulary_size
    improved = bounds.improved_loss(mechanism.epsilon, size)
    for name, holds in (
        ("loss_ratio", guarantee.loss_ratio == str(mechanism.ratio)),
        ("tight", stated.tight == mechanism.loss),
        ("standard", stated.standard == bounds.standard_loss(mechanism.epsilon)),
        # A formula in floating point: its last digit can differ between machines.
        ("improved", isclose(stated.improved, improved, rel_tol=1e-12)),
    ):
        if not holds:
            raise SyntfError(f"{name} is not what was measured on the table")
    return Finding(f"{shown(mechanism.loss, 4)}, measured on the integers of the table")


def check_document_loss(guarantee: Guarantee, mechanism: Mechanism) -> Finding:
    """Check the loss of a document: that of a word times the number of words, rounded up."""
    product = bounds.document_loss(mechanism.loss, guarantee.length)
    if guarantee.loss_per_document != product:
        raise SyntfError(f"{guarantee.length:,} times the loss per word is {shown(product, 2)}")
    return Finding(f"{shown(product, 2)}, {guarantee.length:,} times the loss per word")
