"""The 20 newsgroups as the paper uses them: messages, newsgroups, authors and their division."""

import re
from pathlib import Path
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_20newsgroups

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.corpus import LabelledCorpus

_FROM = re.compile(r"^From:(.*)$", re.MULTILINE)
_ADDRESS = re.compile(r"[^\s<>()\[\]\",;:@]+@[^\s<>()\[\]\",;:@]+")


def newsgroups(data_home: str | Path | None = None) -> LabelledCorpus:
    """Load all messages without headers, footers and quotes; training messages come first.

    They are read from scikit-learn's `data_home`, or downloaded there by scikit-learn. The author
    is the first e-mail address in the ``From`` header, in lower case; 73 messages have none.
    """
    try:
        raw, plain = (
            [
                fetch_20newsgroups(data_home=data_home, subset=part, shuffle=False, remove=remove)
                for part in ("train", "test")
            ]
            for remove in ((), ("headers", "footers", "quotes"))
        )
    except (URLError, OSError) as error:
        raise SyntfError(
            f"20 newsgroups are not in {data_home or 'the data home of scikit-learn'} and cannot "
            f"be downloaded ({error}): use --data-home to name a folder that "
            "sklearn.datasets.fetch_20newsgroups has filled"
        ) from error
    names = np.array(raw[0].target_names)
    messages = [message for part in raw for message in part.data]
    return LabelledCorpus(
        texts=[text for part in plain for text in part.data],
        labels=names[np.concatenate([part.target for part in raw])],
        authors=np.array([message_author(message) for message in messages]),
        train=np.arange(len(messages)) < len(raw[0].data),
    )


def message_author(message: str) -> str:
    """Return the first e-mail address in the ``From:`` line, in lower case, or an empty string.

    Continuation lines of the header are ignored: they hold identifiers, not the author.

    >>> message_author("From: Jane <Jane@Example.org> (J)\\nSubject: hi\\n\\nbody")
    'jane@example.org'
    """
    line = _FROM.search(message)
    address = _ADDRESS.search(line[1]) if line else None
    return address[0].lower() if address else ""
