"""What a release promises, as one record that people and programs can read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Literal

from syntf.vocabulary.vocabulary import Provenance

Inputs = Literal["vectors", "outputs"]
"""The words that have a row: every word with a vector, or the outputs alone."""

CHECKSUM = "checksum"
"""The last entry of ``guarantee.json``: the SHA-256 of all that stands before it."""


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
    mechanism, None for the Exponential mechanism with the paper's rating. `inputs`,
    `vectors_digest` and `files` are for whoever derives the table again
    (:mod:`syntf.verification.verify`);
    `files` has the digest of every other file of a release, and is empty before there is one.
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
    inputs: Inputs
    input_size: int
    loss_per_word: Losses
    loss_ratio: str
    loss_per_document: float
    provenance: Mapping[str, Provenance]
    supplied: Sequence[str]
    seeded: bool
    kept_columns: Sequence[str]
    shuffled: bool
    digest: str
    vocabulary_digest: str
    vectors_digest: str
    private: bool
    caveats: Sequence[str]
    version: str
    files: Mapping[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        record: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return {**record, CHECKSUM: f"sha256:{sha256(_canonical(record).encode()).hexdigest()}"}

    def as_json(self) -> str:
        """The one text of this record: any other text of the same values is not it."""
        return _canonical(self.as_dict())

    def __getitem__(self, key: str) -> Any:
        return self.as_dict()[key]


def _canonical(record: Mapping[str, Any]) -> str:
    return json.dumps(record, indent=2) + "\n"


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
