"""What the page asks: files, columns, choices and runs, without a browser."""

import asyncio
import io
import json
import stat
import threading
import zipfile

import polars as pl
import pytest

from syntf import Ledger, read_release, verify
from syntf.core.progress import stage
from syntf.release.job import anonymize
from syntf.rows import build, guarantee
from syntf.serve import jobs, page
from syntf.serve.jobs import Desk
from syntf.settings import Settings
from tests.serve.conftest import CSV

CHOICES = {"text": "text", "keep": ["topic"]}


def send(client, content=CSV, name="mails.csv", **reading):
    """Upload a file; return the path of the upload, and what its columns are."""
    sent = client.put("/page/files", params={"name": name}, content=content).json()
    path = f"/page/files/{sent['id']}"
    return path, client.post(f"{path}/columns", json=reading)


def finish(client, path, **choices):
    """Run to the end; return the last state."""
    begun = client.post(f"{path}/run", json={**CHOICES, **choices})
    assert begun.status_code == 200, begun.text
    return ended(client, path)


def ended(client, path):
    while (state := client.get(f"{path}/run").json())["state"] == "running":
        pass
    return state


def files(folder):
    """Return what lies in the temporary folders, by name."""
    homes = folder.glob("syntf-serve-*")
    return {path.name for home in homes for path in home.rglob("*") if path.is_file()}


@pytest.fixture
def uploads(monkeypatch):
    """All uploads whose run was begun."""
    seen, begin = [], page.Upload.begin

    def recorded(self, *arguments):
        seen.append(self)
        begin(self, *arguments)

    monkeypatch.setattr(page.Upload, "begin", recorded)
    return seen


@pytest.fixture
def held(monkeypatch):
    """Let every run wait before it begins; give the events that say so and let it go on."""
    begun, go = threading.Event(), threading.Event()

    def wait(*arguments, **options):
        begun.set()
        assert go.wait(20)
        return anonymize(*arguments, **options)

    monkeypatch.setitem(page.KINDS, "rows", wait)
    yield begun, go
    go.set()


def test_a_file_becomes_a_verified_release_and_is_deleted(client, folders, tmp_path):
    client = client()
    path, seen = send(client)
    assert seen.json()["guess"] == {"text": "text", "label": "topic", "author": "author"}
    assert (seen.json()["documents"], seen.json()["estimated"]) == (25, False)
    state = finish(client, path, author="author", author_loss=40)
    made = state["made"]
    assert (state["state"], made["documents"], made["left_out"]) == ("done", 12, 13)
    report = client.get(f"{path}/report.html")
    assert "What this release promises" in report.text
    assert report.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    archive = client.get(f"{path}/release.zip")
    assert 'filename="mails-release.zip"' in archive.headers["Content-Disposition"]
    zipfile.ZipFile(io.BytesIO(archive.content)).extractall(tmp_path / "out")
    assert verify(tmp_path / "out" / "release").ok
    assert read_release(tmp_path / "out" / "release").guarantee.shuffled
    assert "mails.csv" not in files(folders)
    assert client.post(f"{path}/run", json=CHOICES).status_code == 422  # no second release
    client.delete(path)
    assert not files(folders)
    assert client.get(f"{path}/report.html").status_code == 422


def test_a_release_without_columns_can_be_shuffled(client):
    client = client()
    path, _ = send(client)
    state = finish(client, path, keep=[])
    assert (state["message"], state["made"]["documents"]) == ("", 25)


def test_nobody_else_can_open_the_folder_and_the_end_empties_it(client, folders):
    one = client()
    path, _ = send(one)
    finish(one, path)
    send(one, name="other.csv")
    (home,) = folders.glob("syntf-serve-*")
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {"release.zip", "other.csv"} <= files(folders)
    one.__exit__(None, None, None)
    assert not home.exists()
    one.__enter__()


def test_a_cancelled_run_leaves_nothing_and_can_be_begun_again(client, folders, held):
    client = client()
    begun, go = held
    path, _ = send(client)
    client.post(f"{path}/run", json=CHOICES)
    assert begun.wait(10)
    again = client.post(f"{path}/run", json=CHOICES)
    assert "begun already" in again.json()["detail"]
    client.post(f"{path}/cancel", json={})
    go.set()
    state = ended(client, path)
    assert (state["state"], state["made"]) == ("cancelled", None)
    assert state["message"] == "cancelled: nothing was released"
    assert files(folders) == {"mails.csv"}
    assert finish(client, path)["state"] == "done"


@pytest.mark.parametrize("name", ["reading", "drawing", "writing", "packing"])
def test_a_run_is_cancelled_at_every_stage(client, folders, monkeypatch, name):
    client = client()
    path, _ = send(client)
    real, begun = page.Upload._listen, []

    def listen(self, stage, total):
        begun.append(stage)
        if stage == name:
            self.cancel()
        return real(self, stage, total)

    monkeypatch.setattr(page.Upload, "_listen", listen)
    assert finish(client, path)["state"] == "cancelled"
    assert begun[-1] == name
    assert files(folders) == {"mails.csv"}


def test_a_cancel_after_the_last_step_leaves_nothing(client, folders, uploads, monkeypatch):
    client = client()
    path, _ = send(client)
    pack = jobs.shutil.make_archive

    def cancelled_meanwhile(*arguments):
        pack(*arguments)
        uploads[0].cancel()

    monkeypatch.setattr(jobs.shutil, "make_archive", cancelled_meanwhile)
    assert finish(client, path)["state"] == "cancelled"
    assert files(folders) == {"mails.csv"}


def test_the_end_of_the_service_stops_a_run_and_waits_for_it(client, folders, held, uploads):
    one = client()
    begun, go = held
    path, _ = send(one)
    one.post(f"{path}/run", json=CHOICES)
    assert begun.wait(10)
    later = threading.Timer(0.3, go.set)
    later.start()
    one.__exit__(None, None, None)
    later.join()
    assert uploads[0].state == "cancelled"
    assert not list(folders.glob("syntf-serve-*"))
    one.__enter__()


def test_leaving_the_page_deletes_a_file_when_its_run_has_stopped(client, folders, held, uploads):
    client = client()
    begun, go = held
    path, _ = send(client)
    client.post(f"{path}/run", json=CHOICES)
    assert begun.wait(10)
    client.delete(path)
    assert client.get(f"{path}/run").status_code == 422
    go.set()
    other, _ = send(client)
    finish(client, other)  # runs follow one another
    assert [one.state for one in uploads] == ["cancelled", "done"]
    client.delete(other)
    assert not files(folders)


def test_a_failure_names_the_file_but_neither_its_folder_nor_a_text(client, folders, monkeypatch):
    client = client()
    path, seen = send(client, "text\n", name="none.csv")
    assert seen.json() == {"detail": "none.csv holds no rows"}

    def broken(*arguments, **options):
        with stage("reading", 1):
            raise KeyError("zanzibarquux")

    path, _ = send(client)
    with monkeypatch.context() as patch:
        patch.setitem(page.KINDS, "rows", broken)
        state = finish(client, path)
    assert (state["state"], state["message"]) == (
        "failed", "a bug in syntf (KeyError): please report it",
    )  # fmt: skip
    (file,) = folders.rglob("*/input/mails.csv")
    file.write_text("")
    assert finish(client, path)["message"] == "mails.csv is empty"
    file.write_text(CSV)
    assert finish(client, path)["state"] == "done"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b.csv", "a\\b.csv", "a\nb.csv", "é" * 128])
def test_a_name_cannot_leave_the_folder(client, folders, name):
    answer = client().put("/page/files", params={"name": name}, content=CSV)
    assert answer.status_code == 422
    assert not files(folders)


def test_an_upload_that_breaks_leaves_nothing(tmp_path):
    async def cut():
        yield b"text"
        raise ConnectionError

    desk = Desk(tmp_path)
    with pytest.raises(ConnectionError):
        asyncio.run(desk.receive("mails.csv", cut()))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("field", "choices"),
    [
        ("text", {"text": "tekst"}), ("text", {"text": "lists"}), ("keep", {"keep": ["text"]}),
        ("keep", {"keep": ["pilot"]}), ("loss", {"loss": 0}), ("loss", {"preset": "wurds"}),
        ("loss", {"preset": "words", "loss": -1}), ("author", {"author": "author"}),
        ("author", {"author": "author", "author_loss": 9}),
    ],
)  # fmt: skip
def test_errors_are_told_by_field(client, field, choices):
    client = client()
    table = pl.DataFrame({"text": ["a"], "author": ["b"], "pilot": ["c"], "lists": [["a"]]})
    file = io.BytesIO()
    table.write_parquet(file)
    path, _ = send(client, file.getvalue(), "mails.parquet")
    body = {**CHOICES, "keep": [], **choices}
    found = client.post(f"{path}/check", json=body).json()
    assert list(found["errors"]) == [field]
    assert client.post(f"{path}/run", json=body).json() == {"detail": found["errors"][field]}


@pytest.mark.parametrize("choice", [{}, {"loss": 1.5}, {"loss": 20}, {"preset": "words"}])
def test_what_is_expected_is_what_the_scheme_does(client, choice):
    client = client()
    path, _ = send(client)
    found = client.post(f"{path}/check", json={**CHOICES, **choice}).json()
    preset = choice.get("preset")
    rows = build(Settings.of(preset, document_loss=choice.get("loss")))
    scheme = rows.scheme(25)
    weights = scheme.mechanism.weights(0)
    assert found["kept"] == pytest.approx(int(weights.max()) / scheme.mechanism.total, rel=1e-12)
    assert (found["draws"], found["answers"]) == (scheme.draws, len(weights))
    assert found["loss"] == guarantee(rows, [scheme]).loss_per_document


def test_columns_come_with_the_warnings_of_a_release(client):
    rows = "".join(f"{i},a{i}@example.org,so it is {i}\n" for i in range(10, 40))
    _, seen = send(client(), "id,mail,text\n" + rows)
    by_name = {one["name"]: one for one in seen.json()["columns"]}
    assert "looks like e-mail addresses" in by_name["mail"]["warnings"][0]
    assert "in the order of the input" in " ".join(by_name["id"]["if_shuffled"])
    assert "in the order of the input" not in " ".join(by_name["id"]["warnings"])
    assert by_name["id"]["sample"] == ["10", "11", "12"]


def test_a_file_is_read_as_chosen(client):
    client = client()
    path, seen = send(client, "a#b\ncafé#x\n".encode("cp1252"), delimiter="#", encoding="cp1252")
    assert seen.json()["columns"][0]["sample"] == ["café"]
    assert finish(client, path, text="a", keep=["b"])["state"] == "done"
    path, _ = send(client, "a#b\ncafé#x\n")
    again = client.post(f"{path}/columns", json={})
    assert [one["name"] for one in again.json()["columns"]] == ["a#b"]


def test_the_number_of_documents_is_estimated_from_the_first_rows(client):
    _, seen = send(client(), "text\n" + "The bus is late again and again\n" * 1_000_000)
    assert seen.json()["estimated"]
    assert abs(seen.json()["documents"] / 1_000_000 - 1) < 0.1


def test_a_typed_text_shows_probabilities_and_draws_nothing(client, monkeypatch):
    client = client()

    def urandom(size):
        raise AssertionError("something was drawn")

    monkeypatch.setattr("syntf.core.entropy.os.urandom", urandom)
    found = client.post("/page/try", json={"text": "The bus is late"}).json()
    scheme = build(Settings()).scheme(None)
    (answer,) = found["answers"]
    assert answer["chance"] == pytest.approx(float(scheme.mechanism.keep_probability))
    assert "bus" in answer["words"]
    assert found["known"]
    for text in ("", None, "qwxyzq", "\ud800"):
        body = json.dumps({"text": text})
        headers = {"Content-Type": "application/json"}
        unknown = client.post("/page/try", content=body, headers=headers).json()
        assert unknown["answers"][0]["name"] == "nothing known"
        assert not unknown["known"]


def test_a_release_of_the_page_is_charged(client, tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", document=15)
    client = client(ledger=ledger)
    path, _ = send(client)
    assert finish(client, path)["made"]["run"] == 1
    path, _ = send(client)
    state = finish(client, path)
    assert state["state"] == "failed"
    assert "would lose more than 15" in state["message"]


def test_the_page_starts_with_the_settings_of_the_service(client):
    found = client(Settings.of("words", word_loss=6.0)).get("/page/start").json()
    assert (found["unit"], found["loss"], found["kinds"]) == ("word_loss", 6.0, ["rows"])
