"""Audit a program that releases whole documents: does it keep the guarantee that it gives?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from syntf.audit.document_release import check_document_release
from syntf.audit.draws import ERROR, p_value
from syntf.audit.result import CheckResult
from syntf.audit.sampler import preimages
from syntf.audit.subject import outputs_at
from syntf.audit.together import ReplayedReleases, check_together, some_texts
from syntf.codebook.lists import EntryList
from syntf.core import entropy
from syntf.core.exact import log_up, shown, shown_ratio
from syntf.core.progress import Stages, silent
from syntf.mechanism.response import ResponseMechanism
from syntf.pipeline.document import DocumentAnonymizer, DocumentMechanism

TOGETHER = 1_000
"""Documents of a release in memory; enough for a pilot."""
SMALL_ANSWERS, SMALL_BITS = 12, 14
"""Answers and total of the mechanisms for which every random integer is tried."""
WRITTEN_OUT = 1 << 12
"""Lists of more answers are not written out: some of their edges are examined."""
NOISE_CELLS, LEAST_NOISE = 50, 50
"""Cells that answers drawn by noise are counted in, at most, and answers expected in each."""
FACTORS = (0.9, 1.1)


def audit_documents(
    subject: DocumentAnonymizer,
    *,
    draws: int,
    quick: bool = False,
    stages: Stages = silent,
) -> Iterator[CheckResult]:
    """Audit a program that releases whole documents; see :func:`syntf.audit.audit`."""
    texts = some_texts(subject, TOGETHER)
    program = ReplayedReleases(subject)
    drawn, _, mechanism = program.release(texts)
    lists = [entry_list for entry_list, _ in drawn.parts()]
    alone = subject.mechanism(None)
    pairs = [(alone, alone.general), *((mechanism, entry_list) for entry_list in lists)]
    checks: dict[str, Callable[[], CheckResult]] = {
        "mechanism": lambda: check_mechanism(subject, pairs),
        "sampler": lambda: check_response_sampler(pairs),
        "draws": lambda: check_answers(subject, mechanism, lists, draws, stages=stages),
        "replay": lambda: check_together(program, texts),
        "guarantee": lambda: check_document_guarantee(subject),
        "release": lambda: check_document_release(subject, texts, quick=quick, stages=stages),
    }
    for name, check in checks.items():
        try:
            yield check()
        except Exception as error:  # whatever stopped it, the check did not pass
            broken = CheckResult(name, "The check stopped with an error.", "")
            broken.faults.append(f"{type(error).__name__}: {error}")
            yield broken


def check_mechanism(
    subject: DocumentAnonymizer, pairs: Sequence[tuple[DocumentMechanism, EntryList]]
) -> CheckResult:
    """Measure the exact loss of the draws of a document from each list."""
    result = CheckResult(
        "mechanism",
        "The integer weights of the general list, of the list of a pilot and of a sharpened list: "
        "sums, the smallest weight, and the largest ratio of two rows, to the power of the draws "
        "of a document, as exact fractions.",
        "a zero probability, a loss that is larger than was asked for or computed for another list",
    )
    for mechanism, entry_list in pairs:
        response, plan = mechanism.response(entry_list), mechanism.plan
        least, most = response.background, int(response.ratio * response.background)
        if response.answers <= WRITTEN_OUT:
            rows = {0, response.answers // 2, response.answers - 1}
            weights = np.array([response.weights(row) for row in sorted(rows)])
            result.require(
                all(sum(row) == response.total for row in weights.tolist()),
                "a row does not sum to the total",
            )
            least, most = int(weights.min()), int(weights.max())
        result.require(least >= 1, "a weight is below 1: this answer is impossible")
        ratio = Fraction(most, max(1, least))
        result.require(ratio == response.ratio, "rows differ by another ratio than reported")
        loss = Fraction(log_up(ratio)) * plan.draws
        result.require(
            loss <= Fraction(subject.loss),
            f"the draws of a document lose {float(loss):.4f}, more than {subject.loss:g}",
        )
        result.results.append(
            f"{len(entry_list):,} {plan.kind}: the largest ratio is {shown_ratio(ratio)}, "
            f"{plan.draws} draw{'s' * (plan.draws > 1)}, loss at most {shown(float(loss), 4)}"
        )
    return result


def check_response_sampler(
    pairs: Sequence[tuple[DocumentMechanism, EntryList]],
) -> CheckResult:
    """Count the random integers that give each answer."""
    result = CheckResult(
        "sampler",
        "Every random integer below a small total; for each list every integer of the real total "
        "at which the answer changes, or for long lists a sample of them.",
        "an off-by-one error, modulo bias, an answer that is never drawn",
    )
    for mechanism, entry_list in pairs:
        response = mechanism.response(entry_list)
        answers, loss = min(SMALL_ANSWERS, response.answers), min(4.0, response.loss)
        small = type(response)(answers, loss=max(loss, 0.5), total_bits=SMALL_BITS)
        points = np.arange(small.total)
        for row in range(answers):
            found = np.bincount(outputs_at(small, row, points), minlength=answers)  # type: ignore[arg-type]
            result.require(
                found.tolist() == small.weights(row).tolist(),
                "a small total: an answer does not come from as many integers as its weight",
            )
        row = response.answers // 3
        if response.answers <= WRITTEN_OUT:
            sizes, _ = preimages(response, row)  # type: ignore[arg-type]
            right = bool((sizes == response.weights(row)).all())
        else:
            right = _edges_are_right(response, row)
        result.require(right, "an answer comes from more or fewer integers than its weight")
    result.confirm(f"{len(pairs)} lists: all random integers are accounted for")
    return result


def _edges_are_right(response: ResponseMechanism, row: int) -> bool:
    """Examine the first and the last integer of some answers, and of the true one."""
    some = np.linspace(0, response.answers - 1, 1000).astype(np.int64)
    common = response.answers * response.background
    starts, last = some * response.background, np.array([common, response.total - 1])
    points = np.concatenate([starts, starts + (response.background - 1), last])
    expected = np.concatenate([some, some, [row, row]])
    return bool((outputs_at(response, row, points) == expected).all())  # type: ignore[arg-type]


def check_answers(
    subject: DocumentAnonymizer,
    mechanism: DocumentMechanism,
    lists: Sequence[EntryList],
    count: int,
    *,
    stages: Stages,
) -> CheckResult:
    """Compare many released answers of one document with the exact probabilities."""
    result = CheckResult(
        "draws",
        f"{count:,} answers of one document from each list with the operating system's entropy; "
        "χ² at 1e-6 against the mechanism, for the true answer and ranges of others, and against "
        "losses of 10 % more and less.",
        "answers drawn with another loss, a biased sampler, a generator that is not uniform",
    )
    text = some_texts(subject, 1)
    encoded = subject.read(text)
    fresh = replace(mechanism, source=entropy.system)
    with stages("drawing answers", count * len(lists)) as advance:
        for entry_list in lists:
            response = ResponseMechanism(entry_list.answers, loss=mechanism.plan.loss_per_draw)
            true = entry_list.targets(encoded, subject.encoder, mechanism.plan.draws)[0]
            many = encoded.at(np.zeros(-(-count // len(true)), dtype=np.intp))
            answers = fresh.draw(many, entry_list)
            advance(count)
            kept = int((answers == true).sum())
            result.require(
                _noise_fit(answers, true, entry_list.answers) > ERROR,
                "noise is not uniform over the list",
            )
            _compare_share(result, response, kept, answers.size)
    return result


def _noise_fit(answers: NDArray[np.int64], true: NDArray[np.int64], several: int) -> float:
    """Return the p-value of the answers that are not true, if they are uniform over the others."""
    noise = answers[answers != true]
    cells = min(NOISE_CELLS, several // 2, len(noise) // LEAST_NOISE)
    if cells < 2:
        return 1.0

    def cell_of(numbers: NDArray[np.int64]) -> NDArray[np.intp]:
        return np.minimum((numbers / several * cells).astype(np.intp), cells - 1)

    chances = np.ones(cells)
    if several <= WRITTEN_OUT:
        chances = np.bincount(cell_of(np.arange(several)), minlength=cells).astype(np.float64)
        np.add.at(chances, cell_of(true), -1 / len(true))
    found = np.bincount(cell_of(noise), minlength=cells)
    return p_value(found, chances / chances.sum(), np.arange(cells))


def _compare_share(result: CheckResult, response: ResponseMechanism, kept: int, drawn: int) -> None:
    """Compare how often the true answer was released with its probability."""
    counts, one_each = np.array([kept, drawn - kept]), np.array([0, 1])

    def fit(loss: float) -> float:
        chance = float(ResponseMechanism(response.answers, loss=loss).keep_probability)
        if min(chance, 1 - chance) * drawn < 5:
            return 1.0
        return p_value(counts, np.array([chance, 1 - chance]), one_each)

    result.require(
        fit(response.loss) > ERROR,
        f"the true answer was released {kept:,} of {drawn:,} times, which does not fit the loss",
    )
    rejected = [f"{factor:g}" for factor in FACTORS if fit(factor * response.loss) < ERROR]
    if len(rejected) == len(FACTORS):
        result.results.append(f"losses times {' and '.join(rejected)} rejected")
    else:
        result.limits.append(
            f"{drawn:,} answers do not tell a loss 10 % away from this one: use more --samples"
        )


def check_document_guarantee(subject: DocumentAnonymizer) -> CheckResult:
    """Compute the numbers of the guarantee again and compare."""
    result = CheckResult(
        "guarantee",
        "The numbers of the guarantee for one document and for many, compared with the mechanism "
        "that is drawn from: loss, ratio, digests and sizes.",
        "a guarantee for another mechanism or another list, a loss that was rounded down, a seed "
        "or a private codebook that is not declared",
    )
    for documents in (None, 100, TOGETHER, 100_000):
        mechanism = subject.mechanism(documents)
        guarantee, unit = subject.guarantee(mechanism), subject.guarantee(mechanism).document
        response = ResponseMechanism(mechanism.general.answers, loss=mechanism.plan.loss_per_draw)
        exact = Fraction(log_up(Fraction(guarantee.loss_ratio))) * mechanism.plan.draws
        seeded = subject.source is not entropy.system
        private = not seeded and subject.encoder.codebook.origin != "private"
        for fault, holds in (
            ("the guarantee has no document unit", unit is not None),
            ("the loss is not the one asked for", guarantee.loss_per_document == subject.loss),
            ("the draws lose more than the loss", exact <= Fraction(guarantee.loss_per_document)),
            ("the ratio belongs to another list", guarantee.loss_ratio == str(response.ratio)),
            ("the digest belongs to another list", guarantee.digest == f"sha256:{response.digest}"),
            (
                "the general list is another one",
                unit is not None and unit.general == f"sha256:{mechanism.general.digest}",
            ),
            (
                "private does not follow from the seed and the codebook",
                guarantee.private == private,
            ),
        ):
            result.require(holds, fault)
    result.confirm(f"a document loses {shown(subject.loss, 2)} at most, as was asked for")
    return result
