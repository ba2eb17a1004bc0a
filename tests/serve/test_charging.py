"""One process charges the ledger for several workers: one transaction, and an answer for each."""

import asyncio
import multiprocessing
import threading

import pytest

from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.ledger.names import Names
from syntf.ledger.session import Due, Session
from syntf.serve.charging import Charger, charge_for_pipes


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "texts.ledger", budget=10)


@pytest.fixture
def pipes():
    made = [multiprocessing.Pipe() for _ in range(3)]
    yield made
    for both in made:
        for end in both:
            end.close()


def due(ledger, name):
    return Due.of(Names([name], None, "id"), ledger.name_key())


def test_what_several_workers_ask_is_charged_in_one_transaction(ledger, pipes, monkeypatch):
    """The budget allows two charges of a document, whichever worker asks for them."""
    groups, session = [], Session(ledger)
    spend = session.spend_each
    monkeypatch.setattr(
        session, "spend_each", lambda loss, dues: groups.append(len(dues)) or spend(loss, dues)
    )
    for (_, worker), names in zip(pipes, ("ab", "a", "ca"), strict=True):
        worker.send([due(ledger, name) for name in names])
    charge_for_pipes(session, 5, [ours for ours, _ in pipes])
    assert groups == [5]
    answers = [worker.recv() for _, worker in pipes]
    numbers = [[getattr(one, "number", type(one)) for one in answer] for answer in answers]
    assert numbers == [[1, 2], [3], [4, BudgetError]]
    assert len(ledger.verify().runs) == 4


def test_a_worker_that_was_killed_leaves_the_others_alone(ledger, pipes):
    """What a worker asked for before it was killed stays charged, as if its answer was lost."""
    session = Session(ledger)
    pipes[0][1].close()  # killed before it asked
    pipes[1][1].send([due(ledger, "a")])
    pipes[1][1].close()  # killed after it asked
    pipes[2][1].send([due(ledger, "b")])
    charge_for_pipes(session, 5, [ours for ours, _ in pipes])
    assert pipes[2][1].recv()[0].number == 2
    charge_for_pipes(session, 5, [pipes[0][0]])  # nothing was asked
    assert len(ledger.verify().runs) == 2


@pytest.mark.parametrize("state", ["usable", "missing", "ended"])
def test_a_worker_is_told_whether_it_may_draw(ledger, pipes, state):
    ours, worker = pipes[0]
    charger = Charger.of_pipe(worker, ledger.name_key())
    session, asked = Session(ledger), [due(ledger, "a")]
    if state == "missing":
        ledger.path.unlink()

    def first_process():
        if state == "ended":
            ours.close()
        else:
            ours.poll(30)
            charge_for_pipes(session, 5, [ours])

    thread = threading.Thread(target=first_process)
    thread.start()
    if state == "usable":
        (run,) = asyncio.run(charger.charge(asked))
        assert run.number == 1
    else:
        message = "no ledger at" if state == "missing" else "has ended"
        with pytest.raises(SyntfError, match=message):
            asyncio.run(charger.charge(asked))
    thread.join()
