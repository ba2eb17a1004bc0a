"""What was done to the texts, where everything comes from, and what stands outside."""

from syntf.privacy.guarantee import Guarantee
from syntf.report.contents import Released
from syntf.report.markup import Markup, element, section, table

WEIGHTS = {
    "tf": "as often as they occur",
    "tfidf": "as often as they occur, rare words more (idf)",
    "topical": "as often as they occur, words that name a topic more",
}
DRAWS = {
    "independent": "each by itself, as in the paper",
    "systematic": "spread evenly over the words of the document",
}
FORMS = {"lemma": "dictionary forms", "lower": "lower case", "orth": "as written"}
ORIGINS = {
    "vocabulary": "vocabulary",
    "vectors": "word vectors",
    "stop_words": "stop words",
    "idf": "idf weights",
    "wordnet": "WordNet",
    "analyzer": "spaCy pipeline",
}
"""What can be fitted or brought, by its name in the guarantee."""


def done(guarantee: Guarantee, released: Released | None) -> Markup:
    rows = [
        ("words drawn", f"{guarantee.length:,} for every document, however long it was"),
        ("drawn", f"{WEIGHTS[guarantee.weights]}; {DRAWS[guarantee.draws]}"),
        ("replaced by", _replaced(guarantee)),
        ("known words", f"{guarantee.input_size:,} in, {guarantee.vocabulary_size:,} out"),
        ("word forms", f"{FORMS[guarantee.morphology]}, found by {_reader(guarantee)}"),
        ("shared spelling", f"counts {guarantee.spelling:g} against a substitute"),
        ("WordNet’s synonyms", "added to the vocabulary" if guarantee.synsets else "not used"),
        ("parameter ε", f"{guarantee.epsilon:g} (not the loss: that was measured)"),
        ("random bits", "seeded, repeatable" if guarantee.seeded else "of the operating system"),
    ]
    if released is not None:
        kept = ", ".join(guarantee.kept_columns) or "none"
        order = "shuffled" if guarantee.shuffled else "as in the source"
        rows = [
            ("documents", f"{released.documents:,}"),
            *rows,
            ("order of documents", order),
            ("columns kept", kept),
        ]
    return section(
        "done",
        "What is done to the texts",
        element(
            "p",
            "A release holds no text. Each document becomes a number of words, each drawn from it "
            "and replaced at random; how often each word came up is all that is released of the "
            "text.",
        ),
        *_warnings(guarantee, released),
        table(["setting", "value"], rows, "facts"),
        element("h3", "Where everything comes from"),
        element(
            "p",
            "The guarantee needs all of these to be public: made without the texts that are "
            "released.",
        ),
        table(["what", "origin"], _origins(guarantee), "facts"),
    )


def _reader(guarantee: Guarantee) -> str:
    return "syntf itself" if guarantee.analyzer == "fast" else guarantee.analyzer


def _replaced(guarantee: Guarantee) -> str:
    if guarantee.neighbours is None:
        return "any word of the vocabulary, the likelier the more similar (Exponential mechanism)"
    if guarantee.neighbours == 1:
        return "the nearest word of the vocabulary, or any other, all alike"
    return f"one of the {guarantee.neighbours:,} nearest words, or any other, all alike"


def _warnings(guarantee: Guarantee, released: Released | None) -> list[Markup]:
    """Plain words on what the number does not cover; the worst first."""
    found = [(text, "warn" if text.startswith("NOT ") else "note") for text in guarantee.caveats]
    if released is not None and not guarantee.shuffled:
        order = "The documents are in the order of the source, which the guarantee does not cover."
        found.append((order, "note"))
    return [element("p", text, kind=kind) for text, kind in found]


def _origins(guarantee: Guarantee) -> list[tuple[str, Markup]]:
    """Public, brought or fitted: a line for each thing."""
    rows = []
    for name in [*guarantee.provenance, *guarantee.supplied]:
        if guarantee.provenance.get(name) == "fitted":
            told = element("strong", "fitted on the texts released: voids the guarantee")
        elif name in guarantee.supplied:
            told = Markup("public on the word of whoever made the release")
        elif name == "idf" and guarantee.weights != "tfidf":
            told = Markup("not used")
        else:
            told = Markup("public: part of syntf")
        rows.append((ORIGINS[name], told))
    return list(dict(rows).items())


def limits() -> Markup:
    """The threat model and the limitations, in so few words that nothing else need be opened."""
    return section(
        "limits",
        "What it is meant to stop, and what not",
        element(
            "p",
            element("strong", "The threat model. "),
            "The attacker is whoever obtains the release, the analyst included. She knows the "
            "method, the program, every parameter and the whole table of probabilities, and may "
            "hold other texts by the suspects. She wants to learn who wrote a document or what "
            "it said. Columns kept beside the counts, the number and (unless shuffled) the order "
            "of the documents, and the choice of parameters are outside the guarantee.",
        ),
        element(
            "p",
            element("strong", "The limitations. "),
            "The loss bounds what can be proved in the worst case; it is no promise that a guess "
            "fails. At the usual settings, whoever holds a text can find its release, and frequent "
            "authors can be told apart better than by their topics alone. The topic is meant to "
            "survive: where an author is known by the topic, so is the author.",
        ),
        element(
            "p",
            "Both are documents of the syntf project and can be read in full there: "
            "THREAT_MODEL.md and KNOWN_LIMITATIONS.md.",
            kind="soft",
        ),
    )


def checking(guarantee: Guarantee, released: Released | None) -> Markup:
    """How a receiver convinces herself."""
    digest = element("code", guarantee.digest)
    table = element("p", "Digest of the table of probabilities: ", digest, kind="soft")
    if released is None:
        return element("footer", table)
    return section(
        "checking",
        "How to check it",
        element(
            "p",
            "Whoever has the folder of the release and syntf can derive the table again, measure "
            "its loss and check every file, this one included: ",
            element("code", "syntf verify FOLDER"),
            ". This page is made from the other files alone: ",
            element("code", "syntf report FOLDER --out FILE"),
            " makes it again. That the counts were drawn from this table, once and with fresh "
            "random bits, stands on the word of whoever made the release.",
        ),
        table,
    )
