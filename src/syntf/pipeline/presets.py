"""Settings by name: one that hides authors, one that serves the analyst, and the paper's.

*default* replaces a word by its nearest among 4,000 public ones, or by any of them, about as often:
it leaves attackers less than the paper's setting does, at a third of its loss, for some of the
accuracy. *accurate* gives the analyst what the paper gives her, at a third of its loss: θ by
topicality and fewer outputs; but topics that are easy to tell are authors that are easier to tell.
How they were chosen, and what they reach, is in ``docs/frontier.md``. *paper* is the optimum of the
paper, to the letter.
"""

from typing import Any

from syntf.core.errors import SyntfError
from syntf.pipeline.settings import Settings

PRESETS: dict[str, dict[str, Any]] = {
    "default": {
        "neighbours": 1,
        "loss": 8.0,
        "length": 125,
        "weights": "tf",
        "draws": "systematic",
        "max_size": 4000,
    },
    "accurate": {
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
        raise SyntfError(f"a preset is {', '.join(PRESETS)}, not {preset!r}")
    chosen = {name: value for name, value in given.items() if value is not None}
    base = dict(PRESETS[preset])
    for name, other in (("epsilon", "loss"), ("loss", "epsilon"), ("vocabulary", "max_size")):
        if name in chosen:
            base.pop(other, None)
    return Settings(**{**base, **chosen})
