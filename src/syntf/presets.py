"""Settings by name: the best that is known, and the paper's.

*default* is the neighbourhood mechanism over 3,500 public words, with θ by topicality drawn
systematically. Its ideas were compared on the training half of 20 newsgroups; its numbers were
settled when some scores on the test half were known (``docs/frontier.md`` says which). *paper* is
the optimum of the paper, to the letter.
"""

from typing import Any

from syntf.anonymizer import Settings
from syntf.errors import SyntfError

PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "neighbours": 1,
        "loss": 8.5,
        "length": 117,
        "weights": "topical",
        "draws": "systematic",
        "max_size": 3500,
    },
    "paper": {
        "neighbours": None,
        "epsilon": 47.5,
        "length": 150,
        "weights": "tf",
        "draws": "independent",
        "spelling": 0.3,
        "morphology": "lemma",
        "synsets": False,
    },
}


def settings(preset: str = "default", **given: Any) -> Settings:
    """The settings of a preset with those given in place of its own; None is not given.

    ε takes the place of a preset's loss, and the reverse; a vocabulary that is given is taken
    whole.

    >>> settings("paper", length=100).epsilon, settings(epsilon=20.0).loss
    (47.5, None)
    """
    if preset not in PRESETS:
        raise SyntfError(f"a preset is {' or '.join(PRESETS)}, not {preset!r}")
    chosen = {name: value for name, value in given.items() if value is not None}
    base = dict(PRESETS[preset])
    for name, other in (("epsilon", "loss"), ("loss", "epsilon"), ("vocabulary", "max_size")):
        if name in chosen:
            base.pop(other, None)
    return Settings(**{**base, **chosen})
