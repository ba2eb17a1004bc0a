"""The table of a guarantee derived again, and what else follows from its fields."""

from collections.abc import Callable, Sequence
from math import isclose

from syntf.core.errors import SyntfError
from syntf.core.exact import shown
from syntf.core.progress import Stages
from syntf.mechanism.base import Mechanism
from syntf.mechanism.build import build
from syntf.mechanism.rating import WordRating
from syntf.privacy import bounds
from syntf.privacy.guarantee import Guarantee, caveats
from syntf.text.tokenizer import Analyzer
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.result import WORD, Finding
from syntf.vocabulary.vocabulary import Vocabulary


def check_caveats(guarantee: Guarantee) -> Finding:
    """What follows from other fields: private, caveats, and which of these can stand together."""
    origins, supplied = guarantee.provenance, guarantee.supplied
    default = origins["vocabulary"] == "public" and "vocabulary" not in supplied
    every = guarantee.neighbours is not None or default
    for name, holds in (
        ("provenance", "fitted" not in (origins["vectors"], origins["stop_words"])),
        ("provenance", origins["idf"] == "public" or guarantee.weights == "tfidf"),
        ("supplied", ("wordnet" in supplied) == guarantee.synsets),
        ("supplied", ("analyzer" in supplied) == (guarantee.analyzer != Analyzer.name)),
        ("inputs", guarantee.inputs == ("vectors" if every else "outputs")),
        ("private", guarantee.private is not (guarantee.seeded or "fitted" in origins.values())),
        (
            "caveats",
            guarantee.caveats
            == caveats(
                seeded=guarantee.seeded,
                provenance=origins,
                kept_columns=guarantee.kept_columns,
                supplied=supplied,
            ),
        ),
    ):
        if not holds:
            raise SyntfError(f"{name} does not follow from the other fields")
    marked = "private" if guarantee.private else "marked NOT PRIVATE"
    return Finding(f"{marked}, with the caveats it must have")


def word_vectors(guarantee: Guarantee, given: Callable[[], WordVectors] | None) -> Finding:
    found = given() if given else WordVectors.embedded()
    if guarantee.vectors_digest != f"sha256:{found.digest}":
        if given:
            raise SyntfError("vectors_digest is that of other word vectors than these")
        raise SyntfError("made with other word vectors: bring their file with --vectors")
    own = found.digest == WordVectors.embedded().digest if given else True
    if not own and "vectors" not in guarantee.supplied:
        raise SyntfError("supplied does not say that these are not the embedded vectors")
    kind = "embedded in this package" if own else "those that were brought"
    return Finding(f"{len(found.words):,} words, {kind}", found)


def public_words(guarantee: Guarantee, terms: Sequence[str], vectors: WordVectors) -> Finding:
    """Whether the outputs are the package's own where the guarantee implies that."""
    made = Vocabulary.given(terms, vectors)
    if made.dropped:
        raise SyntfError(f"{made.dropped:,} terms of vocabulary.txt have no vector")
    if guarantee.provenance["vocabulary"] == "fitted":
        return Finding("the vocabulary is fitted, which voids the guarantee", made, WORD)
    if "vocabulary" in guarantee.supplied:
        return Finding("a vocabulary that the sender calls public", made, WORD)
    if guarantee.synsets:
        return Finding("the embedded list, extended by WordNet", made, WORD)
    if Vocabulary.default(vectors).most_frequent(len(terms)).outputs != terms:
        raise SyntfError("supplied does not say that vocabulary.txt is not the embedded list")
    return Finding(f"the first {len(terms):,} of the list embedded in this package", made)


def table(
    guarantee: Guarantee, vocabulary: Vocabulary, vectors: WordVectors, stages: Stages
) -> Finding:
    """The mechanism, built from nothing that was remembered; and the words of its rows."""
    if guarantee.inputs == "vectors":
        vocabulary = vocabulary.with_every_input(vectors)
    if guarantee.input_size != len(vocabulary.inputs):
        raise SyntfError(f"{len(vocabulary.inputs):,} inputs, not {guarantee.input_size:,}")
    rating = WordRating(
        vocabulary.inputs,
        vectors.at(vocabulary.input_rows),
        vocabulary.outputs,
        vectors.at(vocabulary.output_rows),
        spelling=guarantee.spelling,
    )
    mechanism = build(
        rating,
        epsilon=guarantee.epsilon,
        neighbours=guarantee.neighbours,
        cache=False,
        stages=stages,
    )
    if guarantee.mechanism != mechanism.scheme:
        raise SyntfError(f"these parameters mean {mechanism.scheme}, not what mechanism says")
    if guarantee.digest != f"sha256:{mechanism.digest}":
        raise SyntfError("the digest is that of another table than the parameters give")
    inputs, outputs = mechanism.shape
    return Finding(
        f"{inputs:,} x {outputs:,} derived again, the same digest", (mechanism, vocabulary)
    )


def loss(guarantee: Guarantee, mechanism: Mechanism) -> Finding:
    stated, size = guarantee.loss_per_word, guarantee.vocabulary_size
    improved = bounds.improved_loss(mechanism.epsilon, size)
    for name, holds in (
        ("loss_ratio", guarantee.loss_ratio == str(mechanism.ratio)),
        ("tight", stated.tight == mechanism.loss),
        ("standard", stated.standard == bounds.standard_loss(mechanism.epsilon)),
        # A formula in floating point: the last digit differs between machines.
        ("improved", isclose(stated.improved, improved, rel_tol=1e-12)),
    ):
        if not holds:
            raise SyntfError(f"{name}: not what was measured on the table derived here")
    return Finding(f"{shown(mechanism.loss, 4)}, measured again on the integers")


def document_loss(guarantee: Guarantee, mechanism: Mechanism) -> Finding:
    product = bounds.document_loss(mechanism.loss, guarantee.length)
    if guarantee.loss_per_document != product:
        raise SyntfError(f"{guarantee.length:,} times the loss per word is {shown(product, 2)}")
    return Finding(f"{shown(product, 2)}, {guarantee.length:,} times that, rounded up")
