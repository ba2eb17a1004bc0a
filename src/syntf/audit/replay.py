"""Documents from outside: what a document is changes neither bytes read, nor shape, nor others."""

import multiprocessing
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from syntf.audit.finding import Finding
from syntf.audit.subject import ALL, TOP, Replayed, readable
from syntf.pipeline.anonymizer import Anonymizer

CANARIES = ("zqxvkanari", "wjqplumbagoxt", "Xyvvzyqquok", "qqkanarjevogelzz", "żółwiokanarek")
"""Words that no list of words has."""


def documents(subject: Anonymizer, *, quick: bool) -> dict[str, str]:
    """Documents that differ in everything."""
    inputs = subject.vocabulary.inputs
    known = next((text for _, text in readable(subject, range(len(inputs)))), "")
    canaries = " ".join(unknown(subject))
    damaged = bytes(range(256)) * 8 + b"\xc3(\xff\x00" + canaries.encode("utf-16")
    return {
        "empty": "",
        "one known word": known,
        "unknown words": canaries,
        "very long": " ".join(inputs[:1000]) * (10 if quick else 1000),
        "undecodable bytes": damaged.decode("utf-8", "replace"),
        "lone surrogates": damaged.decode("utf-8", "surrogateescape"),
        "blanks and marks": " \t\n\r\x00…!?<>&;'\"" * 50,
    }


def unknown(subject: Anonymizer) -> list[str]:
    return [word for word in CANARIES if subject.term(word) is None]


def replay(subject: Anonymizer, *, quick: bool) -> Finding:
    finding = Finding(
        "replay",
        "Documents that differ in everything, from one recorded stream of entropy: bytes read, "
        "shape and number of words; the same beside other documents; each word's own bytes; "
        "then forked and pickled workers on the system's entropy.",
        "a length that follows the document, entropy read as the words demand, documents that "
        "change their neighbours', a stream used twice",
    )
    texts = documents(subject, quick=quick)
    replayed = Replayed(subject)
    length, columns = subject.settings.length, len(subject.vocabulary.outputs)
    seen = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for name, text in texts.items():
            counts, seen[name] = replayed(text)
            finding.require(counts.sum() == length, f"{name}: {counts.sum():,} words, not {length}")
            finding.require(counts.shape == (1, columns), f"{name}: counts of shape {counts.shape}")
            finding.require(bool((counts.data > 0).all()), f"{name}: counts below 1")
    finding.require(not told, f"{len(told)} warnings that may depend on a document")
    sizes = seen["empty"]
    for name, found in seen.items():
        finding.require(found == sizes, f"{name}: read {found} bytes, the empty one {sizes}")
    finding.require(sum(sizes) >= 8 * length, f"{length} words drawn from {sum(sizes)} bytes")
    finding.confirm(
        f"{len(texts)} documents, of 0 to {max(map(len, texts.values())):,} characters: each read "
        f"{sum(sizes):,} bytes and gave {length} words"
    )
    _beside(finding, replayed, list(texts.values()), sum(sizes))
    _own_bytes(finding, subject)
    _workers(finding, subject)
    return finding


def _beside(finding: Finding, replayed: Replayed, texts: list[str], size: int) -> None:
    """One document of three exchanged: the others stay what they were, bit for bit."""
    first = None
    for text in texts:
        counts, sizes = replayed(texts[1], text, texts[2])
        others = counts[[0, 2]].toarray()
        first = others if first is None else first
        finding.require(
            np.array_equal(first, others), "a document changes what others of the release become"
        )
        finding.require(
            sum(sizes) == 3 * size,
            f"three documents read {sum(sizes):,} bytes, one alone {size:,}",
        )


def _own_bytes(finding: Finding, subject: Anonymizer) -> None:
    """Eight bytes after the other changed: each changes one document at most, n of them each.

    With the document without a known word, whose words are uniform: bytes half the range away
    give another word. Inverted ones are tried as well, for a sampler that reads other bits.
    """
    length = min(subject.settings.length, 32)
    replayed = Replayed(replace(subject, settings=replace(subject.settings, length=length)))
    if len(subject.vocabulary.outputs) < 2:
        return
    before, sizes = replayed("", "", "")
    hang = np.zeros(3, dtype=int)
    for block in range(sum(sizes) // 8):
        changed = np.zeros(3, dtype=bool)
        for mask in (TOP, ALL):
            after, _ = replayed("", "", "", flip=(block, mask))
            changed |= np.diff((before != after).tocsr().indptr) > 0
        finding.require(changed.sum() <= 1, f"bytes {8 * block} ff. decide words of two documents")
        hang += changed
    finding.require(
        hang.tolist() == [length] * 3,
        f"the {length} words of a document hang on {hang.tolist()} times eight bytes",
    )
    finding.confirm(f"each of {3 * length} words hangs on eight bytes of its own")


def _workers(finding: Finding, subject: Anonymizer) -> None:
    """The same documents again and again, in copies: never the same words."""
    if len(subject.vocabulary.outputs) < 2:
        return
    number = max(16, -(-2048 // subject.settings.length))
    within = subject.anonymize([""] * number)
    finding.require(
        any((within[row] != within[0]).nnz for row in range(1, number)),
        "all documents of a run get the same words",
    )
    drawn = [_draw(subject, number) for _ in range(2)]
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        drawn += [*_inherited(context, subject, number), *_pickled(context, subject, number)]
    finding.require(
        len(set(drawn)) == len(drawn), "a copy or a second call drew the same words again"
    )
    finding.confirm(f"{len(drawn)} runs, in this process, forked and pickled: all different")


def _inherited(context: Any, subject: Anonymizer, number: int) -> Iterator[bytes]:
    """Two workers that have the program by a fork."""
    queue = context.SimpleQueue()
    workers = [context.Process(target=_send, args=(queue, subject, number)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise RuntimeError("a forked worker failed")
    yield from [queue.get() for _ in workers]


def _pickled(context: Any, subject: Anonymizer, number: int) -> Iterator[bytes]:
    """Two workers that receive the program pickled."""
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield from pool.map(_draw, [subject] * 2, [number] * 2)


def _send(queue: Any, subject: Anonymizer, number: int) -> None:
    queue.put(_draw(subject, number))


def _draw(subject: Anonymizer, number: int) -> bytes:
    """A hash of the words of so many empty documents."""
    counts = subject.anonymize([""] * number)
    counts.sort_indices()
    return sha256(b"".join(map(bytes, (counts.indptr, counts.indices, counts.data)))).digest()
