"""The page with the figures of the document unit, written from the measured figures."""

from collections.abc import Mapping, Sequence
from typing import Any

from syntf.evaluation.experiment.names import display_name
from syntf.research.markdown import MISSING, markdown_table

Record = Mapping[str, Any]

REQUIRED = {4: (0.18, None), 6: (0.29, 0.33), 8: (0.35, 0.45), 10: (0.38, 0.49), 20: (0.43, 0.53),
            40: (0.47, 0.54)}  # fmt: skip
"""The least F1 that was asked for before anything was measured: embedded, and near in topic."""

INTRODUCTION = """\
# Figures of the document unit

What an analyst keeps of a release of whole documents, what attackers find, and how often whoever
holds a text finds its release. [documents.md](documents.md) describes the mechanism. This command
measured the figures and wrote this page:

```sh
{command}
```

**As the product releases.** All documents of a corpus are one release, made as `syntf anonymize`
makes it: in a release of at least 1,000 documents a random pilot answers first, and what it
released sharpens the list for the others. Analysts learn from the released training documents and
are tested on the released test documents of the same release. The settings were chosen on the
training half of 20 newsgroups and on the three smaller corpora below; {use_of_test}

**Three analysts.** Naive Bayes and a linear SVM see the released term counts. The *informed*
analyst knows the public lists and the noise ([evaluation.md](evaluation.md)). Tables show the mean
F1, weighted by the size of each class, of the analyst that is best on average, ± the standard
deviation over runs.
"""

NEAR_IN_TOPIC = """\
*Asked* is the least F1 that was asked for before anything was measured. *Near in topic*: half of
the training texts, without labels, were taken as public and made into a codebook as
`syntf codebook build` makes it; the other half is released together with the test texts and learnt
from.
"""

ATTACKERS = """\
The strongest of all attackers and models in each scenario, and in parentheses its distance to the
topic floor, an attacker who knows the true newsgroup of each text and has read none:
{floors}.
Below the floor, a release says less about authors than the newsgroup does. Embedded codebook.
"""

LINKAGE = """\
Whoever holds a text and knows the encoder and the lists computes the answer of the text, and
guesses among the releases that show it. The table has the share of texts whose own release is
guessed first.
"""

LISTS = """\
How the loss was spent: the list that most documents answered from, how many of its entries are
released for a document, how many documents formed the pilot, and the list that they answered from.
"""

LIMITS = """\
## What the figures do not say

- Runs share the texts. The deviations say how much another draw would differ, not another corpus.
- The best of three analysts is chosen by its mean on the tested documents. The informed analyst
  predicts labels so that F1 is large, and the others predict the most probable label; about half of
  its lead comes from that.
- The lists and the recipe of the embedded codebook were chosen by scores on the training half and
  on the three smaller corpora, so the scores of these corpora are slightly too good. Codebooks of
  the same recipe differ by about .015 on 20 newsgroups.
- A first guess that succeeds in 2 % of all cases is an average. A document whose topic no other
  document has is found more often. The loss bounds how sure anyone can be of it.
"""


def documents_page(records: Sequence[Record], about: Record) -> str:
    """Return the page in Markdown.

    about : ``command``, ``half``, and ``topic``: the topic floor by scenario.
    """
    test = about["half"] == "test"
    used = "the test half was used once, for this page." if test else "the test half is not used."
    parts = [
        INTRODUCTION.format(command=about["command"], use_of_test=used),
        "## 20 newsgroups",
        _share_of_documents(records),
        _main_table(records),
        NEAR_IN_TOPIC,
        "Each analyst by itself:",
        _analysts_table(records),
        "## Attackers",
        ATTACKERS.format(
            floors=", ".join(
                f"{display_name(name)} {_f1(f1)}" for name, f1 in about["topic"].items()
            )
        ),
        _attacks_table(records, about["topic"]),
        "## Linkage",
        LINKAGE,
        _linkage_table(records),
        "## Other corpora",
        "Two thirds of each corpus are for training; the embedded codebook.",
        _corpora_table(records),
        "## Lists",
        LISTS,
        _lists_table(records),
        LIMITS,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _main_table(records: Sequence[Record]) -> str:
    rows = []
    for loss in _losses(_analysts(records, "20 newsgroups")):
        embedded, near = (
            _only(_analysts(records, "20 newsgroups", book), loss)
            for book in ("embedded", "near in topic")
        )
        asked = REQUIRED.get(int(loss), (None, None))
        rows.append(
            [f"{loss:g}", _value(embedded), _f1(asked[0], 2), _value(near), _f1(asked[1], 2)]
        )
    return markdown_table(
        ["loss per document", "embedded", "asked", "near in topic", "asked"], rows
    )


def _analysts_table(records: Sequence[Record]) -> str:
    rows = []
    for one in _analysts(records, "20 newsgroups"):
        scores = [_f1(one["by_name"].get(name)) for name in ("nb", "svm", "informed")]
        rows.append([one["codebook"], f"{one['loss']:g}", *scores])
    header = ["codebook", "loss per document", "naive Bayes", "linear SVM", "informed"]
    return markdown_table(header, rows)


def _attacks_table(records: Sequence[Record], floors: Mapping[str, float]) -> str:
    attacks = [one for one in records if one["task"] == "attack"]
    rows = []
    for loss in _losses(attacks):
        row = [f"{loss:g}"]
        for scenario in floors:
            (one,) = (
                each for each in attacks if (each["loss"], each["scenario"]) == (loss, scenario)
            )
            excess = f"{one['value'] - floors[scenario]:+.3f}".replace("-", "−").replace(
                "0.", ".", 1
            )
            row.append(f"{_value(one)} ({excess})")
        rows.append(row)
    return markdown_table(["loss per document", *map(display_name, floors)], rows)


def _linkage_table(records: Sequence[Record]) -> str:
    rows = [
        [f"{one['loss']:g}", one["codebook"], f"{one['value']:.2%}", f"{one['documents']:,}"]
        for one in records
        if one["task"] == "linkage"
    ]
    header = ["loss per document", "codebook", "found at the first guess", "among"]
    return markdown_table(header, rows)


def _corpora_table(records: Sequence[Record]) -> str:
    names = dict.fromkeys(
        one["case"]
        for one in records
        if one["task"] == "analyst" and one["case"] != "20 newsgroups"
    )
    losses = _losses(_analysts(records, "20 newsgroups"))
    rows = []
    for name in names:
        own = _analysts(records, name)
        rows.append(
            [name, f"{own[0]['documents']:,}", *(_value(_only(own, loss)) for loss in losses)]
        )
    return markdown_table(["corpus", "documents", *(f"{loss:g}" for loss in losses)], rows)


def _lists_table(records: Sequence[Record]) -> str:
    rows = []
    for one in _analysts(records, "20 newsgroups"):
        plan = one["settings"]
        pilot = plan["pilot"]
        entries, size = (
            (plan["sharpened_entries"], plan["sharpened_size"])
            if pilot
            else (plan["entries"], plan["size"])
        )
        general = f"{plan['entries']:,}" if pilot else MISSING
        rows.append(
            [
                one["codebook"], f"{one['loss']:g}", f"{entries:,} {plan['kind']}",
                str(size * plan["draws"]), f"{pilot:,}" if pilot else MISSING, general,
            ]
        )  # fmt: skip
    header = ["codebook", "loss per document", "list", "entries per document", "pilot"]
    return markdown_table([*header, "general list"], rows)


def _share_of_documents(records: Sequence[Record]) -> str:
    sizes = {one["codebook"]: one["documents"] for one in _analysts(records, "20 newsgroups")}
    parts = (f"{count:,} ({book})" for book, count in sizes.items())
    runs = max(one["runs"] for one in records if one["task"] == "analyst")
    return (
        "Headers, footers and quotes are removed. Released documents:\n"
        f"{', '.join(parts)}; {runs} runs."
    )


def _analysts(records: Sequence[Record], case: str, book: str = "") -> list[Record]:
    return [
        one
        for one in records
        if one["task"] == "analyst" and one["case"] == case and book in ("", one["codebook"])
    ]


def _only(records: Sequence[Record], loss: float) -> Record | None:
    return next((one for one in records if one["loss"] == loss), None)


def _losses(records: Sequence[Record]) -> list[float]:
    return sorted({one["loss"] for one in records})


def _value(one: Record | None) -> str:
    if one is None:
        return MISSING
    return _f1(one["value"]) + ("" if one["deviation"] is None else f" ± {_f1(one['deviation'])}")


def _f1(value: float | None, digits: int = 3) -> str:
    return MISSING if value is None else f"{value:.{digits}f}".removeprefix("0")
