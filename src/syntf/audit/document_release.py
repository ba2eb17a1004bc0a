"""Check whole releases of documents on disk: verified, independent of texts, with fresh entropy."""

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from scipy.stats import binom

from syntf.audit.draws import ERROR
from syntf.audit.release import FEW, compare_releases, unusual_texts, write_input
from syntf.audit.replay import CANARIES
from syntf.audit.result import CheckResult
from syntf.codebook.plan import PILOT_FROM
from syntf.core.progress import Stages
from syntf.pipeline.document import DocumentAnonymizer
from syntf.releases import draft, job
from syntf.releases.contents.prototypes import PILOT, PROTOTYPES
from syntf.verification.result import FAILED
from syntf.verification.verify import verify

SEVERAL = 3 * PILOT_FROM
"""Documents of a release with different texts: a pilot, and more than one batch of input."""
QUICK = 10 * PILOT_FROM
"""Documents of the largest release of a quick audit, enough for noise to show."""


def check_document_release(
    subject: DocumentAnonymizer, texts: Sequence[str], *, quick: bool, stages: Stages
) -> CheckResult:
    """Make releases from files, verify one and compare others."""
    count = QUICK if quick else draft.SHARD + 1000
    result = CheckResult(
        "release",
        f"Whole releases on disk. One of {count:,} documents, with a pilot: syntf verify derives "
        "its lists and every byte of it from the released rows, and noise must fall on documents "
        "independently. Pairs whose texts differ in every seventh document but have no known "
        "word, with the same entropy: all files must be equal, byte by byte.",
        "a true answer or a text anywhere in a file, a list sharpened by more than released rows, "
        "entropy that is used again for a later shard, a loss other than stated",
    )
    with TemporaryDirectory() as folder, stages("making releases", 3) as advance:
        work = Path(folder)
        _check_large_release(result, subject, work, texts, count)
        advance(1)
        for suffix, number in (("csv", PILOT_FROM + FEW), ("jsonl", FEW)):
            unknown = [
                text
                for text in unusual_texts(CANARIES, suffix)
                if not subject.read([text if isinstance(text, str) else json.dumps(text)])
                .vectors.any()
            ]  # fmt: skip
            compare_releases(result, subject, work, suffix, number, texts[0], unknown)
            advance(1)
    return result


def _check_large_release(
    result: CheckResult, subject: DocumentAnonymizer, work: Path, texts: Sequence[str], count: int
) -> None:
    """Verify a large release of different texts, and one of equal texts for its noise."""
    rows = [{"text": texts[i % len(texts)], "number": i, "topic": "a"} for i in range(SEVERAL)]
    made = job.release(
        write_input(work / "several.csv", rows), work / "several",
        keep=["number"], shuffle=True, anonymizer=subject,
    )  # fmt: skip
    _require_verified(result, subject, Path(made.path))
    rows = [{"text": texts[0], "number": i, "topic": "a"} for i in range(count)]
    made = job.release(
        write_input(work / "equal.csv", rows), work / "equal", keep=["number"], anonymizer=subject
    )
    _require_verified(result, subject, Path(made.path))
    paths = sorted(Path(made.path).glob("documents*.parquet"))
    _check_noise(result, [pl.read_parquet(path) for path in paths])


def _require_verified(result: CheckResult, subject: DocumentAnonymizer, folder: Path) -> None:
    codebook = subject.settings.codebook
    found = verify(
        folder,
        vectors=None if subject.encoder.vectors.pack else lambda: subject.encoder.vectors,
        language=subject.settings.language,
        codebook=Path(codebook) if codebook and "codebook" in subject.settings.supplied else None,
    )
    for check in found.with_status(FAILED):
        result.require(False, f"syntf verify: {check.name}: {check.detail}")
    result.require(found.verified, "syntf verify does not verify a release of this program")
    result.confirm(f"{found.documents:,} documents verified")


def _check_noise(result: CheckResult, shards: Sequence[pl.DataFrame]) -> None:
    """Compare, for equal texts, which documents got noise in the pilot, and in each shard.

    Two groups that were drawn with the same bytes have their noise at the same places.
    """
    groups = []
    for frame in shards:
        pilot = frame[PILOT].to_numpy() if PILOT in frame.columns else np.zeros(len(frame), bool)
        answers = frame[PROTOTYPES].cast(pl.List(pl.String)).list.join(" ").to_numpy()
        for group in (answers[pilot], answers[~pilot]):
            if len(group):
                _, places, times = np.unique(group, return_inverse=True, return_counts=True)
                groups.append(places != times.argmax())
    tested = 0
    for number, one in enumerate(groups):
        for other in groups[:number]:
            size = min(len(one), len(other))
            left, right = one[:size], other[:size]
            chance, error = float(left.mean() * right.mean()), ERROR / len(groups) ** 2
            if binom.sf(min(left.sum(), right.sum()) - 1, size, chance) > error:
                continue  # not even the same bytes would show
            tested += 1
            together = int((left & right).sum())
            result.require(
                binom.sf(together - 1, size, chance) > error,
                f"noise falls on the same {together:,} of {size:,} documents of two groups",
            )
    if len(groups) < 2:
        result.limits.append("one group of draws alone cannot show entropy that is used again")
    elif not tested:
        result.limits.append("noise is so rare at this loss that repeated entropy would not show")
    else:
        result.confirm(f"noise falls on documents independently in {tested} pairs of groups")
