"""The paper's own setting on 20 newsgroups."""

from suite.figures import Figure, compared, plain
from suite.place import Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "The paper's setting"
NOTE = """\
ε = 47.5, s = 0.3, n = 150; the vocabulary is fitted on the training half: lemmas with a vector in
at least two messages. Rows are fitting and measuring together, with nothing remembered and with the
measurement remembered. The paper's loss, 25.4, is that of GloVe's vectors as they are, and of
its own vocabulary."""


def groups(place: Place) -> list[list[Row]]:
    titles = {"first": "fitted and measured", "again": "fitted, the measurement remembered"}
    return [
        [
            Row(
                f"fitted/{step}", title, worker("fit", step, place.data_home, place.vectors),
                "kept", place.few, env=place.env,
            )
            for step, title in titles.items()
        ]
    ]  # fmt: skip


def figures(found: Results) -> list[Figure]:
    first = found["fitted/first"]
    return [
        *plain("fitted/loss", "tight loss per word", first, of="loss", unit=""),
        *plain("fitted/terms", "terms fitted", first, of="terms", unit="", better="more"),
        *compared(
            "fitted/remembered", "remembered, against measured", found["fitted/again"], first
        ),
    ]
