"""The paper's own setting on 20 newsgroups."""

from suite.figures import Figure, plain
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "The paper's setting"
NOTE = """\
ε = 47.5, s = 0.3, n = 150; the vocabulary is fitted on the training half: lemmas with a vector in
at least two messages. The row is fitting and measuring together; of what is fitted on texts nothing
is remembered. The paper's loss, 25.4, is that of GloVe's vectors as they are, and of its own
vocabulary."""


def groups(place: Place) -> list[list[Row]]:
    command = worker("fit", place.data_home, place.vectors)
    row = Row("fitted", "fitted and measured", command, "kept", place.few, env=place.env)
    return [[row]]


def figures(found: Results) -> list[Figure]:
    return [
        *plain("fitted/loss", "tight loss per word", found["fitted"], of="loss", unit=""),
        *plain("fitted/terms", "terms fitted", found["fitted"], of="terms", unit="", better="more"),
    ]
