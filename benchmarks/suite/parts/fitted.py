"""Measure the setting of the paper on 20 newsgroups."""

from suite.figures import Figure, plain
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "The paper's setting"
NOTE = """\
ε = 47.5, s = 0.3, n = 150. The vocabulary is fitted on the training half: lemmas that have a vector
and occur in at least two messages. The row is the time for fitting the vocabulary and measuring the
loss, without the cache. The paper reports a loss of 25.4 for its own vocabulary and the unrounded
vectors of GloVe."""


def groups(place: Place) -> list[list[Row]]:
    command = worker("fit", place.data_home, place.vectors)
    row = Row("fitted", "fitted and measured", command, "kept", place.few, env=place.env)
    return [[row]]


def figures(found: Results) -> list[Figure]:
    return [
        *plain("fitted/loss", "tight loss per word", found["fitted"], of="loss", unit=""),
        *plain("fitted/terms", "terms fitted", found["fitted"], of="terms", unit="", better="more"),
    ]
