"""20 newsgroups as the paper uses them: messages, newsgroups, authors and their halves."""

import re
from pathlib import Path
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_20newsgroups

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment.labelled import Labelled

_FROM = re.compile(r"^From:(.*)$", re.MULTILINE)
_ADDRESS = re.compile(r"[^\s<>()\[\]\",;:@]+@[^\s<>()\[\]\",;:@]+")


def newsgroups(data_home: str | Path | None = None) -> Labelled:
    """All messages, first those to learn from, stripped of headers, footers and quotes.

    Read from scikit-learn's `data_home`, or downloaded there by scikit-learn. The author is
    the first e-mail address in the ``From`` header, in lower case; 73 messages have none.
    """
    try:
        raw, plain = (
            [
                fetch_20newsgroups(data_home=data_home, subset=half, shuffle=False, remove=remove)
                for half in ("train", "test")
            ]
            for remove in ((), ("headers", "footers", "quotes"))
        )
    except (URLError, OSError) as error:
        raise SyntfError(
            f"20 newsgroups are neither in {data_home or 'the data home of scikit-learn'} nor to "
            f"be downloaded ({error}): give --data-home, a folder that "
            "sklearn.datasets.fetch_20newsgroups has filled"
        ) from error
    names = np.array(raw[0].target_names)
    messages = [message for half in raw for message in half.data]
    return Labelled(
        texts=[text for half in plain for text in half.data],
        labels=names[np.concatenate([half.target for half in raw])],
        authors=np.array([author(message) for message in messages]),
        train=np.arange(len(messages)) < len(raw[0].data),
    )


def author(message: str) -> str:
    """The first e-mail address on the physical ``From:`` line, in lower case; '' without one.

    A header may go on in the next line, which then holds no author but an identifier.

    >>> author("From: Jane <Jane@Example.org> (J)\\nSubject: hi\\n\\nbody")
    'jane@example.org'
    """
    line = _FROM.search(message)
    address = _ADDRESS.search(line[1]) if line else None
    return address[0].lower() if address else ""
