"""Names of methods, models, scenarios and attackers in results, and how they are displayed."""

DISPLAY_NAMES = {
    "original": "original text",
    "vectorised": "vectorised",
    "syntf": "SynTF",
    "scrubadub": "scrubadub 2.x",
    "scrubadub-names": "scrubadub with names",
    "utility": "analyst",
    "attack": "attacker",
    "top5-any": "Top 5/Any",
    "top10-any": "Top 10/Any",
    "top5-multi": "Top 5/Multi",
    "top10-multi": "Top 10/Multi",
    "nb": "naive Bayes",
    "svm": "linear SVM",
    "nb-discounted": "naive Bayes, counts − ½",
    "informed": "informed",
    "logistic": "logistic regression",
    "writeprints": "WritePrints, alphabetical",
    "writeprints-frequency": "WritePrints, by frequency",
    "writeprints-random": "WritePrints, random order",
    "words": "words",
    "characters": "characters",
    "embeddings": "word vectors",
    "words-static": "words, trained on original texts",
    "characters-static": "characters, trained on original texts",
    "embeddings-static": "word vectors, trained on original texts",
    "entries": "released entries",
    "topic": "the topic alone",
    "topic-guessed": "the predicted topic alone",
}
"""Display names in the order of display; other names follow and are displayed unchanged."""

MODELS = ("nb", "svm")
"""The two models of the paper, for the analyst as well as for the attacker."""

INFORMED = "informed"
"""The model that knows the mechanism of a release of whole documents."""

ENTRIES = "entries"
"""The attacker who sees the released entries of whole documents and knows their mechanism."""

TOPIC_FLOOR = "topic"
PREDICTED_TOPIC_FLOOR = "topic-guessed"
FLOORS = (TOPIC_FLOOR, PREDICTED_TOPIC_FLOOR)
"""Attackers who see no text: they know the topic of a document, or the analyst's prediction."""

TEXT_METHODS = ("original", "scrubadub", "scrubadub-names")
"""Methods that keep the order of words, so that no attacker has to choose one."""


def display_name(name: str) -> str:
    """Return how a method, task, scenario, model or attacker is displayed."""
    return DISPLAY_NAMES.get(name, name)


def display_rank(name: str) -> tuple[int, str]:
    """Return a sort key for the order of display."""
    names = list(DISPLAY_NAMES)
    return (names.index(name) if name in names else len(names), name)
