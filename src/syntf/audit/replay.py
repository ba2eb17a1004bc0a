"""Check that a text changes neither the entropy read, nor the shape, nor other documents."""

import multiprocessing
import os
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np

from syntf.audit.result import CheckResult
from syntf.audit.subject import ALL_BITS, TOP_BIT, ReplayedProgram, one_word_texts
from syntf.pipeline.anonymizer import Anonymizer

CANARIES = ("zqxvkanari", "wjqplumbagoxt", "Xyvvzyqquok", "qqkanarjevogelzz", "żółwiokanarek")
"""Words that are in no vocabulary."""


def sample_texts(subject: Anonymizer, *, quick: bool) -> dict[str, str]:
    """Return texts that differ as much as possible, by kind."""
    inputs = subject.vocabulary.inputs
    known = next((text for _, text in one_word_texts(subject, range(len(inputs)))), "")
    canaries = " ".join(unknown_words(subject))
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


def unknown_words(subject: Anonymizer) -> list[str]:
    """Return the canaries that this vocabulary does not know."""
    return [word for word in CANARIES if subject.term(word) is None]


def check_replay(subject: Anonymizer, *, quick: bool) -> CheckResult:
    """Anonymise very different texts with the same recorded entropy."""
    result = CheckResult(
        "replay",
        "Very different documents with the same recorded entropy: bytes read, shape and number of "
        "words, also beside other documents; each word must depend on its own bytes. Then forked "
        "and pickled workers with the operating system's entropy.",
        "a length that depends on the document, entropy use that depends on the words, documents "
        "that change other documents, entropy that is used twice",
    )
    texts = sample_texts(subject, quick=quick)
    program = ReplayedProgram(subject)
    length, columns = subject.settings.length, len(subject.vocabulary.outputs)
    sizes_of = {}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for name, text in texts.items():
            counts, sizes_of[name] = program.anonymize(text)
            result.require(
                counts.sum() == length, f"{name}: {counts.sum():,} words instead of {length}"
            )
            result.require(counts.shape == (1, columns), f"{name}: counts of shape {counts.shape}")
            result.require(bool((counts.data > 0).all()), f"{name}: counts below 1")
    result.require(not warned, f"{len(warned)} warnings that may depend on a document")
    sizes = sizes_of["empty"]
    for name, found in sizes_of.items():
        result.require(found == sizes, f"{name}: read {found} bytes, the empty document {sizes}")
    result.require(sum(sizes) >= 8 * length, f"{length} words were drawn with {sum(sizes)} bytes")
    result.confirm(
        f"{len(texts)} documents, of 0 to {max(map(len, texts.values())):,} characters: each read "
        f"{sum(sizes):,} bytes and gave {length} words"
    )
    _check_other_documents(result, program, list(texts.values()), sum(sizes))
    _check_own_bytes(result, subject)
    _check_workers(result, subject)
    return result


def _check_other_documents(
    result: CheckResult, program: ReplayedProgram, texts: list[str], size: int
) -> None:
    """Exchange one of three documents; the other two must not change."""
    first = None
    for text in texts:
        counts, sizes = program.anonymize(texts[1], text, texts[2])
        others = counts[[0, 2]].toarray()
        first = others if first is None else first
        result.require(
            np.array_equal(first, others), "a document changes the words of other documents"
        )
        result.require(
            sum(sizes) == 3 * size,
            f"three documents read {sum(sizes):,} bytes, one document {size:,}",
        )


def _check_own_bytes(result: CheckResult, subject: Anonymizer) -> None:
    """Change each group of eight bytes: n groups must change one document, no group two.

    The documents are empty, so their words are uniform, and a change of the highest bit gives
    another word. All bits are changed as well, for samplers that read other bits.
    """
    length = min(subject.settings.length, 32)
    program = ReplayedProgram(replace(subject, settings=replace(subject.settings, length=length)))
    if len(subject.vocabulary.outputs) < 2:
        return
    before, sizes = program.anonymize("", "", "")
    groups = np.zeros(3, dtype=int)
    for block in range(sum(sizes) // 8):
        changed = np.zeros(3, dtype=bool)
        for mask in (TOP_BIT, ALL_BITS):
            after, _ = program.anonymize("", "", "", flip=(block, mask))
            changed |= np.diff((before != after).tocsr().indptr) > 0
        result.require(changed.sum() <= 1, f"eight bytes from {8 * block} change two documents")
        groups += changed
    result.require(
        groups.tolist() == [length] * 3,
        f"the {length} words of a document depend on {groups.tolist()} groups of eight bytes",
    )
    result.confirm(f"each of {3 * length} words depends on its own eight bytes")


def _check_workers(result: CheckResult, subject: Anonymizer) -> None:
    """Draw for the same documents in several processes; the words must always differ."""
    if len(subject.vocabulary.outputs) < 2:
        return
    number = max(16, -(-2048 // subject.settings.length))
    within = subject.anonymize([""] * number)
    result.require(
        any((within[row] != within[0]).nnz for row in range(1, number)),
        "all documents of a run have the same words",
    )
    drawn = [_draw(subject, number) for _ in range(2)]
    context = multiprocessing.get_context("fork" if hasattr(os, "fork") else "spawn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forks with threads
        drawn += [*_draw_forked(context, subject, number), *_draw_pickled(context, subject, number)]
    result.require(
        len(set(drawn)) == len(drawn), "a copy of the program or a second call drew the same words"
    )
    result.confirm(
        f"{len(drawn)} runs in this process, in forked and in pickled copies: all different"
    )


def _draw_forked(context: Any, subject: Anonymizer, number: int) -> Iterator[bytes]:
    """Draw in two processes that inherit the program by a fork."""
    queue = context.SimpleQueue()
    workers = [context.Process(target=_send, args=(queue, subject, number)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise RuntimeError("a forked worker failed")
    yield from [queue.get() for _ in workers]


def _draw_pickled(context: Any, subject: Anonymizer, number: int) -> Iterator[bytes]:
    """Draw in two processes that receive the pickled program."""
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield from pool.map(_draw, [subject] * 2, [number] * 2)


def _send(queue: Any, subject: Anonymizer, number: int) -> None:
    queue.put(_draw(subject, number))


def _draw(subject: Anonymizer, number: int) -> bytes:
    """Return a hash of the words drawn for this number of empty documents."""
    counts = subject.anonymize([""] * number)
    counts.sort_indices()
    return sha256(b"".join(map(bytes, (counts.indptr, counts.indices, counts.data)))).digest()
