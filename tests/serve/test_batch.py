"""Requests that are drawn for together: each gets its own draws, and is charged before them."""

import asyncio
import hashlib
import threading

import pytest

from syntf.core import entropy
from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
from syntf.serve.batch import BATCH_SIZE, Batcher, size_of
from syntf.serve.charging import Charger
from syntf.serve.service import Service

TEXT = "The cat saw a mouse, two horses and a train near the river; the dog played piano."


def ask_all(service, *requests, charger=None):
    """Send requests, each a list of texts with ids or None, at the same time."""
    batcher = Batcher(service, charger)

    async def together():
        sent = (
            batcher.anonymize(texts, None if ids is None else Names(ids, None, "id"))
            for texts, ids in requests
        )
        return await asyncio.gather(*sent, return_exceptions=True)

    return asyncio.run(together())


@pytest.fixture
def calls(toy_anonymizer, monkeypatch):
    """A service, and the sizes of its draws."""
    service = Service(toy_anonymizer)
    sizes, draw = [], service.draw
    monkeypatch.setattr(service, "draw", lambda texts: sizes.append(len(texts)) or draw(texts))
    return service, sizes


def test_requests_at_the_same_time_are_drawn_for_in_one_call(calls):
    service, sizes = calls
    answers = ask_all(service, *[([TEXT] * count, None) for count in (1, 3, 1, 2)])
    assert [len(answer.documents) for answer in answers] == [1, 3, 1, 2]
    assert sizes == [7]
    drawn = [str(document) for answer in answers for document in answer.documents]
    assert len(set(drawn)) == 7


def test_a_large_request_is_drawn_for_by_itself(calls):
    """It has a thread of its own, and short requests before and after it do not wait for it."""
    service, sizes = calls
    large = ["cat " * (BATCH_SIZE // 4)]
    ask_all(service, ([TEXT], None), ([TEXT], None), (large, None), ([TEXT], None))
    assert sorted(sizes) == [1, 1, 2]


def test_a_batch_has_a_limit(calls):
    service, sizes = calls
    count = BATCH_SIZE // size_of([TEXT])
    ask_all(service, *[([TEXT], None)] * (count + 5))
    assert sorted(sizes) == [5, count]


@pytest.mark.parametrize("quick", [True, False])
def test_only_short_batches_of_a_quick_service_are_drawn_for_without_a_thread(
    toy_anonymizer, monkeypatch, quick
):
    service = Service(toy_anonymizer)
    monkeypatch.setattr(Service, "is_quick", quick)
    threads, draw = [], service.draw
    monkeypatch.setattr(
        service, "draw", lambda texts: threads.append(threading.current_thread()) or draw(texts)
    )
    ask_all(service, ([TEXT], None), ([TEXT], None))
    ask_all(service, (["cat"] * 300, None))
    main = [thread is threading.main_thread() for thread in threads]
    assert main == ([True, False] if quick else [False, False, False])


def test_a_text_changes_the_answer_of_its_own_request_only(toy_anonymizer, monkeypatch):
    """With the same random bytes, all other requests of the batch get the same answers."""
    seen = {}
    for text in ("", "cat " * 50, "zanzibarquux", "\ud800"):
        calls = []

        def urandom(size, calls=calls):
            calls.append(size)
            return hashlib.shake_256(b"%d" % len(calls)).digest(size)

        monkeypatch.setattr(entropy.os, "urandom", urandom)
        answers = ask_all(Service(toy_anonymizer), ([TEXT], None), ([text], None), ([TEXT], None))
        seen[text] = [str(answers[place].documents) for place in (0, 2)], calls
    assert all(found == seen[""] for found in seen.values())
    assert seen[""][1] == [8 * 3, 8 * 20 * 3]  # a start and twenty words for each document


def test_an_error_leaves_the_other_requests_of_the_batch_alone(toy_anonymizer, monkeypatch):
    service = Service(toy_anonymizer)
    read = service.read

    def fail_for_one(texts):
        if "bad" in texts:
            raise RuntimeError("cannot read")
        return read(texts)

    monkeypatch.setattr(service, "read", fail_for_one)
    answers = ask_all(service, ([TEXT], None), (["bad"], None), ([TEXT, "dog"], None))
    assert [len(answers[place].documents) for place in (0, 2)] == [1, 2]
    assert isinstance(answers[1], RuntimeError)


def test_an_encoder_that_fails_is_not_taken_for_a_ledger_that_cannot_be_charged(
    toy_anonymizer, tmp_path, monkeypatch
):
    """The request was charged, so the answer must not say that it was not."""
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=1000)
    service = Service(toy_anonymizer, ledger)

    def fail(texts):
        raise SyntfError("the encoder x failed with ValueError")

    monkeypatch.setattr(service, "draw", fail)
    charger = Charger.of_ledger(ledger, service.loss)
    (found,) = ask_all(service, ([TEXT], ["a"]), charger=charger)
    assert isinstance(found, RuntimeError)
    assert not isinstance(found, SyntfError)
    assert len(ledger.verify().runs) == 1


def test_a_request_that_nobody_waits_for_is_not_charged(toy_anonymizer, tmp_path):
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=1000)
    service = Service(toy_anonymizer, ledger)
    batcher = Batcher(service, Charger.of_ledger(ledger, service.loss))

    async def cancel_one():
        tasks = [
            asyncio.ensure_future(batcher.anonymize([TEXT], Names([name], None, "id")))
            for name in ("stays", "leaves")
        ]
        await asyncio.sleep(0)
        tasks[1].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answered, left = asyncio.run(cancel_one())
    assert answered.run.number == 1
    assert isinstance(left, asyncio.CancelledError)
    assert len(ledger.verify().runs) == 1


class TestLedger:
    @pytest.fixture
    def make(self, toy_anonymizer, tmp_path):
        """Make a service whose ledger allows a number of runs for each document."""

        def making(runs):
            loss = toy_anonymizer.guarantee().loss_per_document
            ledger = Ledger.create(tmp_path / "texts.ledger", budget=(runs + 0.5) * loss)
            service = Service(toy_anonymizer, ledger)
            return service, Charger.of_ledger(ledger, service.loss)

        return making

    def test_the_ledger_is_charged_before_anything_is_drawn(self, make, monkeypatch):
        service, charger = make(2)
        (first,) = ask_all(service, ([TEXT], ["one"]), charger=charger)
        (second,) = ask_all(service, ([TEXT, TEXT], ["one", "two"]), charger=charger)
        assert (first.run.number, second.run.number) == (1, 2)

        def urandom(size):
            raise AssertionError("drawn")

        with monkeypatch.context() as patch:
            patch.setattr(entropy.os, "urandom", urandom)
            (refused,) = ask_all(service, ([TEXT, TEXT], ["one", "three"]), charger=charger)
        assert isinstance(refused, BudgetError)
        (third,) = ask_all(service, ([TEXT], ["three"]), charger=charger)
        assert third.run.number == 3

    def test_requests_of_one_batch_cannot_exceed_the_budget(self, make):
        service, charger = make(3)
        answers = ask_all(service, *[([TEXT], ["one"])] * 8, charger=charger)
        assert [type(answer) for answer in answers[3:]] == [BudgetError] * 5
        assert [answer.run.number for answer in answers[:3]] == [1, 2, 3]
        assert [run.hash for run in service.ledger.verify().runs] == [
            answer.run.hash for answer in answers[:3]
        ]

    def test_nothing_is_drawn_if_the_charge_fails(self, make, monkeypatch):
        service, charger = make(3)
        service.ledger.path.unlink()
        monkeypatch.setattr(entropy.os, "urandom", lambda size: pytest.fail("drawn"))
        answers = ask_all(service, *[([TEXT], ["one"])] * 3, charger=charger)
        assert all("no ledger at" in str(answer) for answer in answers)
