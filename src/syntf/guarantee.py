"""What a release promises, as one record that people and programs can read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from syntf.vocabulary import Provenance


@dataclass(frozen=True)
class Losses:
    """The privacy loss of one word: `tight` is measured, and is the promise.

    `standard` and `improved` bound the mechanism with real-valued probabilities; rounding to
    integers can put `tight` a little above `improved` in tables of few outputs.
    """

    standard: float
    improved: float
    tight: float


@dataclass(frozen=True)
class Guarantee:
    """The differential-privacy guarantee of a release. ``as_dict`` is ``guarantee.json``.

    `private` is true only if every draw came from the operating system's entropy and
    everything the mechanism is made of is public; `caveats` says what stands against it,
    and what was released beside the counts. `neighbours` is the k of the neighbourhood
    mechanism, None for the Exponential mechanism with the paper's rating.
    """

    mechanism: str
    epsilon: float
    neighbours: int | None
    spelling: float
    length: int
    morphology: str
    synsets: bool
    analyzer: str
    weights: str
    draws: str
    vocabulary_size: int
    input_size: int
    loss_per_word: Losses
    loss_ratio: str
    loss_per_document: float
    provenance: Mapping[str, Provenance]
    kept_columns: Sequence[str]
    shuffled: bool
    digest: str
    vocabulary_digest: str
    private: bool
    caveats: Sequence[str]
    version: str

    def as_dict(self) -> dict[str, Any]:
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]

    def as_json(self) -> str:
        return json.dumps(self.as_dict(), indent=2) + "\n"

    def __getitem__(self, key: str) -> Any:
        return self.as_dict()[key]


def caveats(
    *,
    seeded: bool,
    provenance: Mapping[str, Provenance],
    kept_columns: Sequence[str],
    supplied: Sequence[str] = (),
) -> list[str]:
    """Plain sentences on what the number does not cover."""
    found = []
    if seeded:
        found.append("NOT PRIVATE: the draws came from a seeded source that can be repeated.")
    fitted = [name for name, origin in provenance.items() if origin == "fitted"]
    if fitted:
        found.append(
            f"NOT COVERED: {' and '.join(fitted)} fitted on the texts released here, so the "
            "release depends on them in a way that the loss does not count."
        )
    claimed = [name for name in supplied if name not in fitted]
    if claimed:
        found.append(f"Public on the word of whoever made this release: {' and '.join(claimed)}.")
    if kept_columns:
        found.append(
            f"Released as they are, outside the guarantee: columns {', '.join(kept_columns)}."
        )
    return found
