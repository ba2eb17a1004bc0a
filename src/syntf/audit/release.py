"""Check whole releases on disk, with more documents than one batch and one shard.

The other checks examine counts in memory. This one makes releases from files, as `syntf
anonymize` does, and compares them byte by byte.
"""

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.sparse import load_npz, vstack
from scipy.stats import binom

from syntf.audit.replay import unknown_words
from syntf.audit.result import CheckResult
from syntf.audit.subject import one_word_texts
from syntf.core.progress import Stages
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.releases import job
from syntf.releases.draft import SHARD

MORE_THAN_A_SHARD = SHARD + 1000
FEW = 160
SECRETS = 7
"""Every so many documents, the text of one is exchanged."""

MAX_IN_PLACE = 30
"""Documents that a shuffle may leave in place: more have a probability below 1e-32."""

SIGMAS = 1000
"""Standard deviations allowed for repeated rows: by Chebyshev, an error of 1e-6."""

SEED = 1
COLUMNS = ("text", "number", "topic")

Rows = Sequence[Mapping[str, Any]]
Chances = NDArray[np.float64]


def check_release(subject: Anonymizer, *, quick: bool, stages: Stages) -> CheckResult:
    """Make releases from files, and compare them."""
    result = CheckResult(
        "release",
        f"Whole releases on disk. One of {MORE_THAN_A_SHARD:,} shuffled documents: its order, and "
        "rows that are repeated. Pairs, from CSV, JSON lines and Parquet, whose texts differ in "
        "every seventh document but have no known word, with the same entropy: all files must be "
        "equal, byte by byte.",
        "entropy that is used again in a later batch, a shuffle that does nothing, a text or its "
        "length anywhere in a file, one text that changes how another is read or the number of "
        "documents, a column type that tells the order of documents",
    )
    with TemporaryDirectory() as folder, stages("making releases", 4) as advance:
        work = Path(folder)
        _check_shuffled_release(result, subject, work)
        advance(1)
        canaries = unknown_words(subject)
        if not canaries:
            result.limits.append("every canary is a word of this vocabulary: no texts to exchange")
            return result
        for suffix in ("csv",) if quick else ("csv", "jsonl", "parquet"):
            large = suffix == "csv" and not quick
            count = MORE_THAN_A_SHARD if large else FEW
            _check_pair(result, subject, work, suffix, count, canaries)
            advance(1)
        _check_column_types(result, subject, work)
    return result


def _check_shuffled_release(result: CheckResult, subject: Anonymizer, work: Path) -> None:
    """Check the order and the rows of one large release with the operating system's entropy."""
    count = MORE_THAN_A_SHARD
    path = write_input(
        work / "many.csv", [{"text": "", "number": i, "topic": "a"} for i in range(count)]
    )
    release = job.release(
        path, work / "many", keep=["number"], shuffle=True, anonymizer=subject, insecure_seed=None
    )
    shards = sorted(Path(release.path).glob("documents*.parquet"))
    order = pl.concat([pl.read_parquet(shard, columns=["number"]) for shard in shards])
    numbers = order["number"].cast(pl.Int64).to_numpy()
    complete = np.array_equal(np.sort(numbers), np.arange(count))
    result.require(complete, "documents are missing or repeated")
    if complete:
        in_place = int((numbers == np.arange(count)).sum())
        result.require(
            in_place <= MAX_IN_PLACE, f"a shuffle leaves {in_place:,} documents in place"
        )
        first = pl.read_parquet(shards[0], columns=["number"]).height
        stayed = int((numbers[:first] < first).sum())
        expected, spread = first * first / count, sqrt(first * (count - first) * first) / count
        result.require(
            len(shards) == 1 or abs(stayed - expected) <= 10 * max(1.0, spread),
            "a shuffle does not move documents between shards as often as it should",
        )
    _check_repeated_rows(result, subject, Path(release.path))
    result.confirm(f"{count:,} documents in {len(shards)} shards, in a random order")


def _check_repeated_rows(result: CheckResult, subject: Anonymizer, folder: Path) -> None:
    """Compare the number of pairs of equal rows with its expectation for independent draws."""
    counts = vstack([load_npz(path) for path in sorted(folder.glob("vectors*.npz"))], format="csr")
    counts.sort_indices()
    rows = Counter(
        counts.indices[start:end].tobytes() + counts.data[start:end].tobytes()
        for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True)
    )
    pairs = sum(times * (times - 1) // 2 for times in rows.values())
    total = counts.shape[0] * (counts.shape[0] - 1) / 2
    expected = total * equal_rows_probability(subject.settings.length, counts.shape[1])
    allowed = expected + SIGMAS * sqrt(expected + 1)
    if allowed > counts.shape[0] / 4:
        result.limits.append(
            "so few words in so small a vocabulary that equal rows are common: entropy that is "
            "used again would not be seen here"
        )
        return
    result.require(pairs <= allowed, f"{pairs:,} pairs of equal rows, {expected:.1g} expected")
    result.confirm(f"{pairs:,} pairs of equal rows, {expected:.1g} expected")


def equal_rows_probability(length: int, outputs: int) -> float:
    """Return the probability that two empty documents have the same counts.

    Their words are uniform. For a vocabulary in two halves, both documents must have the same
    number of words in the first half, and equal counts in each half: with V = a + b outputs,
    f_V(n) = Σ_k Bin(k; n, a/V)² · f_a(k) · f_b(n − k).

    >>> round(equal_rows_probability(1, 4), 12), equal_rows_probability(5, 1)
    (0.25, 1.0)
    """
    numbers = np.arange(length + 1)

    def joined(a: int, first: Chances, b: int, second: Chances) -> Chances:
        share = binom.pmf(numbers, numbers[:, None], a / (a + b)) ** 2
        return np.array([share[n, : n + 1] @ (first[: n + 1] * second[n::-1]) for n in numbers])

    size, chances = 1, np.ones(length + 1)  # of one output
    for bit in f"{outputs:b}"[1:]:
        size, chances = 2 * size, joined(size, chances, size, chances)
        if bit == "1":
            size, chances = size + 1, joined(size, chances, 1, np.ones(length + 1))
    return float(chances[length])


def _check_pair(
    result: CheckResult,
    subject: Anonymizer,
    work: Path,
    suffix: str,
    count: int,
    canaries: Sequence[str],
) -> None:
    """Compare two releases that differ in texts without a known word."""
    known = next((text for _, text in one_word_texts(subject, range(100))), "")
    unusual = unusual_texts(canaries, suffix)
    empty_row = subject.mechanism.shape[0] - 1
    unknown = [
        text
        for text in unusual
        if subject.read([text if isinstance(text, str) else json.dumps(text)]).terms.tolist()
        == [empty_row]
    ]
    compare_releases(result, subject, work, suffix, count, known, unknown)


def compare_releases(
    result: CheckResult,
    subject: Anonymizer | DocumentAnonymizer,
    work: Path,
    suffix: str,
    count: int,
    known: str,
    unknown: Sequence[Any],
) -> None:
    """Compare two releases whose texts differ in every seventh document, byte by byte.

    known : the text of all other documents.
    unknown : texts without a known word, in place of empty ones.
    """
    releases = []
    for name, secrets in (("plain", [""]), ("unusual", unknown)):
        rows = [
            {
                "text": secrets[i // SECRETS % len(secrets)] if i % SECRETS == 3 else known,
                "number": i,
                "topic": f"t{i % 3}",
            }
            for i in range(count)
        ]
        path = write_input(work / f"{name}.{suffix}", rows)
        release = job.release(
                path,
                work / f"{name}-{suffix}",
                keep=["number", "topic"],
                shuffle=count > FEW,
                bad_rows="skip",
                anonymizer=subject,
                insecure_seed=SEED,
            )  # fmt: skip
        releases.append(release)
    one, other = releases
    described = [replace(release, path=Path()) for release in releases]
    result.require(
        one.documents == other.documents == count,
        f"{suffix}: {count:,} texts became {one.documents:,} and {other.documents:,} documents",
    )
    contents = [
        {path.name: path.read_bytes() for path in Path(release.path).iterdir()}
        for release in releases
    ]
    result.require(
        contents[0].keys() == contents[1].keys(), f"{suffix}: the texts change the names of files"
    )
    for name in sorted(contents[0].keys() & contents[1].keys()):
        result.require(contents[0][name] == contents[1][name], f"{suffix}: the texts change {name}")
    result.require(described[0] == described[1], f"{suffix}: the texts change what is reported")
    result.confirm(
        f"{suffix}: {count:,} documents, {len(range(3, count, SECRETS)):,} texts exchanged, "
        f"{len(contents[0])} files of {sum(map(len, contents[0].values())):,} bytes equal"
    )


def unusual_texts(canaries: Sequence[str], suffix: str) -> list[Any]:
    """Return texts of unknown words and characters that have a meaning in some format."""
    words = " ".join(canaries)
    texts: list[Any] = [
        words, f"{words} " * 1000, "\r".join(canaries), f"\n{words}\r\n{words}", f'"{words}', "",
        f"From {words}", "17", "1.50", f"\0{words}", f"\ufeff{words}", "," * 100, "{}", "null",
    ]  # fmt: skip
    if suffix == "jsonl":
        texts += [None, True, 17, 1.5, 10**30]
    elif suffix == "parquet":
        texts += [None]
    return [text for text in texts if isinstance(text, str) or text is None or suffix == "jsonl"]


def _check_column_types(result: CheckResult, subject: Anonymizer, work: Path) -> None:
    """Shuffle the same documents in two input orders: the types of columns must not tell them."""
    schemas = []
    for name, topics in (("forward", ["b", "a", "c"]), ("backward", ["c", "a", "b"])):
        frame = pl.DataFrame({"text": [""] * 3, "topic": pl.Series(topics, dtype=pl.Enum(topics))})
        frame.write_parquet(work / f"{name}.parquet")
        release = job.release(
            work / f"{name}.parquet", work / name, keep=["topic"], shuffle=True,
            anonymizer=subject, insecure_seed=SEED,
        )  # fmt: skip
        schemas.append(pl.read_parquet_schema(Path(release.path) / "documents.parquet"))
    result.require(schemas[0] == schemas[1], "a column type tells the order of documents")


def write_input(path: Path, rows: Rows) -> Path:
    """Write documents to a file; a CSV field is quoted only if that is necessary."""
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8", errors="surrogatepass") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pl.DataFrame(rows, schema_overrides={"text": pl.String}).write_parquet(path)
    return path
