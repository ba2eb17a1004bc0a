"""The whole job: one pass, a limit on authors, the ledger before any draw, no text stops it."""

import inspect
import itertools
import json
import mailbox
import os
import shlex
from collections import Counter
from math import sqrt

import numpy as np
import polars as pl
import pytest

from syntf import BudgetError, Ledger, Settings, SyntfError, anonymize, read_release, rows, verify
from syntf.core import entropy
from syntf.inputs import corpus, tables
from syntf.inputs.corpus import Reading
from syntf.release import job
from syntf.release import verify as checking
from syntf.release.job import at_most
from syntf.rows import TopicRows
from syntf.topics import plan

AUTHORS = ["ann"] * 5 + ["bob"] * 2 + [""] * 4 + ["cid"] * 9
RELEASED = {"ann": 3, "bob": 2, "": 4, "cid": 3}
"""Documents of each author in a release of at most 3 documents of an author."""

WORDS = {"preset": "words", "word_loss": 1.0, "length": 10, "vocabulary": ["cat", "dog", "car"]}


@pytest.fixture
def mails(tmp_path):
    """20 mails by three authors, and four without an author."""
    texts = [f"the rocket carried a satellite into orbit {number}" for number in range(20)]
    frame = pl.DataFrame({"id": range(20), "sender": AUTHORS, "text": texts})
    frame.write_csv(tmp_path / "mails.csv")
    return tmp_path / "mails.csv"


@pytest.fixture(autouse=True)
def prepared_once(monkeypatch):
    """Prepare the same method once for all tests."""

    def build(settings, texts=()):
        key = repr(settings)
        if settings.fit_vocabulary is not None:
            return rows.build(settings, texts)
        if key not in PREPARED:
            PREPARED[key] = rows.build(settings)
        return PREPARED[key]

    for module in (job, checking):
        monkeypatch.setattr(module, "build", build)


PREPARED = {}


def documents(folder):
    return read_release(folder).documents


# What is made


def test_a_release_is_what_was_asked_for(mails, tmp_path):
    made = anonymize(mails, str(tmp_path / "out"), id="id", keep=["sender", "id"], format="csv")
    assert (made.path, made.documents, made.left_out) == (tmp_path / "out", 20, 0)
    assert read_release(tmp_path / "out").guarantee == made.guarantee
    found = documents(tmp_path / "out")
    assert found["id"].to_list() == [str(number) for number in range(20)]
    assert found.columns[:3] == ["document", "id", "sender"]
    assert made.guarantee.kept_columns == ["id", "sender"]
    assert made.run is None
    assert verify(tmp_path / "out").ok


def test_a_shuffle_keeps_counts_and_columns_together(tmp_path):
    topics = ["cat", "car", "music", "bread"] * 15
    frame = pl.DataFrame({"text": [f"{one} {one} {one}" for one in topics], "kind": topics})
    frame.write_parquet(tmp_path / "texts.parquet")
    made = anonymize(
        tmp_path / "texts.parquet", tmp_path / "out", keep=["kind"], shuffle=True,
        preset="words", word_loss=30, length=20, vocabulary=["cat", "car", "music", "bread"],
    )  # fmt: skip
    release = read_release(made.path)
    assert release.documents["kind"].to_list() != topics
    likeliest = [release.terms[column] for column in release.counts.toarray().argmax(axis=1)]
    assert release.documents["kind"].to_list() == likeliest


def test_several_inputs_and_settings(mails, tmp_path):
    made = anonymize([mails, mails.with_name("*.csv")][:1], tmp_path / "one", settings=Settings())
    assert made.documents == 20
    (tmp_path / "more.csv").write_bytes(mails.read_bytes())
    assert anonymize(tmp_path / "*.csv", tmp_path / "two").documents == 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"settings": Settings(), "document_loss": 5}, "give settings or document_loss, not both"),
        ({"loss": 8}, "the setting loss is gone since 0.3; use word_loss"),
        ({"bad_rows": "skip"}, "there is no setting 'bad_rows'"),
        ({"format": "xls"}, "format must be npz or parquet or csv, not 'xls'"),
        ({"shuffle": "no"}, "shuffle must be true or false, not 'no'"),
        ({"keep": "sender"}, r"keep is a list of columns: keep=\['sender'\]"),
        ({"keep": ["text"]}, "the text column 'text' cannot be released"),
        ({"keep": ["answer"]}, "a column 'answer' of its own"),
        ({"keep": ["sendr"]}, "no column 'sendr'; .*did you mean 'sender'"),
        ({"author": "text", "author_loss": 30}, "the text column 'text' cannot name authors"),
        ({"author_loss": 30}, "name their column by author"),
        ({"author": "sender"}, "give ledger or author_loss too"),
        ({"author": "who", "author_loss": 30}, "no column 'who'"),
        ({"author": "sender", "author_loss": 9}, "a loss of 9 per author is below the loss of 10"),
        ({"reading": Reading(sheet="a")}, "--sheet is for Excel files"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_charged(mails, tmp_path, options, message):
    ledger = Ledger.create(tmp_path / "texts.ledger", document=100)
    if "author" not in options:
        options = {"ledger": ledger, **options}
    with pytest.raises(SyntfError, match=message) as caught:
        anonymize(mails, tmp_path / "out", **options)
    assert not getattr(caught.value, "__notes__", [])
    assert not ledger.runs()
    assert {path.name for path in tmp_path.iterdir()} == {"mails.csv", "texts.ledger"}


@pytest.mark.parametrize("inputs", [[], ["no.csv"], ["a text\nof two lines"], ["long " * 200]])
def test_a_wrong_input_is_refused_and_a_text_not_quoted(tmp_path, inputs):
    with pytest.raises(SyntfError) as caught:
        anonymize(inputs, tmp_path / "out")
    assert "two lines" not in str(caught.value)
    assert "long long" not in str(caught.value)


# Columns that no file can hold


DATES = pl.Series([0] * 1999 + [2**31 - 1], dtype=pl.Int32).cast(pl.Date)
TIMES = pl.Series([0] * 1999 + [2**63 - 1], dtype=pl.Int64).cast(pl.Datetime("us"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (DATES, "holds a date outside the years 1 to 9999"),
        (TIMES, "holds a date outside the years 1 to 9999"),
        (pl.Series([{}] * 2000), "holds structures without fields"),
    ],
)
@pytest.mark.parametrize("format", ["npz", "csv"])
def test_a_column_that_cannot_be_written_charges_nothing(tmp_path, column, message, format, capfd):
    """Databases write infinity as such a date. It may stand in any row."""
    frame = pl.DataFrame([pl.Series("text", ["a fast car"] * 2000), column.alias("day")])
    frame.write_ipc(tmp_path / "mails.arrow")
    ledger = Ledger.create(tmp_path / "texts.ledger", document=1000)
    with pytest.raises(SyntfError, match=f"the column 'day' {message}"):
        anonymize(
            tmp_path / "mails.arrow", tmp_path / "out", keep=["day"], ledger=ledger, format=format
        )
    assert not ledger.runs()
    assert not (tmp_path / "out").exists()
    assert capfd.readouterr() == ("", "")


def test_columns_of_any_other_type_are_released(tmp_path):
    frame = pl.DataFrame(
        {
            "text": ["a cat", "a car"],
            "large": pl.Series([1, None], dtype=pl.Int128),
            "raw": [b"\xff", b""],
            "parts": [[1, 2], None],
            "fields": [{"a": 1}, {"a": None}],
            "kind": pl.Series(["x", "y"], dtype=pl.Categorical),
            "day": pl.Series([-719162, 2932896], dtype=pl.Int32).cast(pl.Date),
            "empty": [None, None],
        }
    )
    frame.write_parquet(tmp_path / "texts.parquet")
    for format in ("npz", "csv"):
        anonymize(
            tmp_path / "texts.parquet", tmp_path / format, keep=frame.columns[1:], format=format
        )
        assert verify(tmp_path / format).ok
        kept = documents(tmp_path / format).select(frame.columns[1:])
        assert kept.drop("kind").equals(frame.drop("text", "kind"))


# The limit on the loss of authors


def exact_choice(authors, most):
    """Every choice of `at_most` for these authors with its share, over all orders of documents."""
    seen = Counter()
    for order in itertools.permutations(range(len(authors))):
        ranks = np.argsort(order).astype("<u8") << np.uint64(40)
        places = at_most(pl.Series(authors), most, lambda size, ranks=ranks: ranks.tobytes())
        seen[tuple(places.tolist())] += 1
    return seen


@pytest.mark.parametrize(
    "authors", [["a", "a", "a", "b", None], ["a", "b", "a", "b", ""], [None] * 4]
)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_every_choice_within_the_limit_is_equally_likely(authors, most):
    """Brute force: all orders of five documents. Which document is chosen tells nothing."""
    places = range(len(authors))
    named = {one: [at for at in places if authors[at] == one] for one in authors if one}
    choices = [itertools.combinations(own, min(most, len(own))) for own in named.values()]
    alone = [at for at in places if not authors[at]]
    allowed = {
        tuple(sorted([*alone, *itertools.chain(*one)])) for one in itertools.product(*choices)
    }
    seen = exact_choice(authors, most)
    assert set(seen) == allowed
    assert len(set(seen.values())) == 1


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_authors_may_be_numbers_with_gaps(missing):
    authors = pl.Series([7.0, 7.0, missing, missing, missing], strict=False)
    assert len(at_most(authors, 1, entropy.system)) == 4
    with pytest.raises(SyntfError, match="holds decimals"):
        at_most(pl.Series("who", [1.5, 2.0]), 1, entropy.system)


@pytest.mark.parametrize("settings", [{"document_loss": 10.0}, WORDS], ids=["document", "words"])
def test_at_most_so_many_documents_of_an_author_are_released(mails, tmp_path, settings):
    made = anonymize(
        mails, tmp_path / "out", author="sender", author_loss=35, keep=["sender"], **settings
    )
    found = documents(tmp_path / "out")
    assert Counter(found["sender"].fill_null("")) == RELEASED
    assert found["document"].to_list() == list(range(12))
    assert (made.documents, made.left_out) == (12, 8)
    promise = made.guarantee
    assert promise.documents_per_author == 3
    assert promise.loss_per_author == pytest.approx(30)
    assert verify(tmp_path / "out").ok


def test_texts_do_not_influence_which_documents_are_released(mails, tmp_path):
    released = []
    for texts in (["a cat"] * 20, [number % 3 * "other words " for number in range(20)]):
        pl.read_csv(mails).with_columns(pl.Series("text", texts)).write_csv(mails)
        options = {"author": "sender", "author_loss": 30, "id": "id", "force": True}
        anonymize(mails, tmp_path / "out", source=entropy.Seeded(4), **options)
        released.append(documents(tmp_path / "out")["id"].to_list())
    assert released[0] == released[1]


def test_every_document_of_an_author_is_chosen_equally_often(mails, tmp_path):
    runs, times = 300, np.zeros(20)
    for _ in range(runs):
        times[at_most(pl.Series(AUTHORS), 3, entropy.system)] += 1
    for author, share in (("ann", 3 / 5), ("cid", 1 / 3)):
        own = times[np.array(AUTHORS) == author]
        assert (np.abs(own - share * runs) < 5 * sqrt(runs * share * (1 - share))).all()


def test_notices_count_the_released_documents_alone(tmp_path):
    frame = pl.DataFrame({"text": [""] * 30 + ["a cat"], "who": ["ann"] * 30 + ["bob"]})
    frame.write_csv(tmp_path / "texts.csv")
    made = anonymize(tmp_path / "texts.csv", tmp_path / "out", author="who", author_loss=10)
    assert any(notice.startswith("1 of 2 texts have no known word") for notice in made.notices)


# The ledger


def test_a_ledger_is_charged_for_released_documents_and_their_authors(mails, tmp_path):
    ledger = Ledger.create(tmp_path / "texts.ledger", document=25, author=70)
    options = {"id": "id", "author": "sender", "author_loss": 30, "ledger": ledger}
    made = anonymize(mails, tmp_path / "one", **options)
    assert (made.run.number, made.run.documents, made.run.note) == (1, 12, str(tmp_path / "one"))
    accounts = ledger.summary()
    assert (accounts["document"].names, accounts["document"].largest_loss) == (12, 10)
    assert (accounts["author"].names, accounts["author"].largest_loss) == (7, 30)
    anonymize(mails, tmp_path / "two", **{**options, "ledger": tmp_path / "texts.ledger"})
    with pytest.raises(BudgetError, match="would lose more than"):
        anonymize(mails, tmp_path / "three", **options)
    assert not (tmp_path / "three").exists()
    assert len(ledger.runs()) == 2


def test_an_id_is_the_same_name_in_every_format(tmp_path):
    ledger = Ledger.create(tmp_path / "texts.ledger", document=25)
    pl.DataFrame({"id": [17], "text": ["a"]}).write_csv(tmp_path / "texts.csv")
    pl.DataFrame({"id": [17], "text": ["a"]}).write_parquet(tmp_path / "whole.parquet")
    pl.DataFrame({"id": [17.0], "text": ["a"]}).write_parquet(tmp_path / "float.parquet")
    anonymize(tmp_path / "texts.csv", tmp_path / "one", id="id", ledger=ledger)
    anonymize(tmp_path / "whole.parquet", tmp_path / "two", id="id", ledger=ledger)
    with pytest.raises(BudgetError):
        anonymize(tmp_path / "float.parquet", tmp_path / "three", id="id", ledger=ledger)


def test_a_budget_for_authors_needs_their_column(mails, tmp_path):
    ledger = Ledger.create(tmp_path / "texts.ledger", author=70)
    with pytest.raises(SyntfError, match="name their column with --author"):
        anonymize(mails, tmp_path / "out", ledger=ledger)


@pytest.mark.parametrize("options", [{"source": entropy.Seeded(1)}, {"fit_vocabulary": 2}])
def test_a_release_that_is_not_private_is_not_charged(mails, tmp_path, options):
    ledger = Ledger.create(tmp_path / "texts.ledger", document=10**6)
    with pytest.raises(SyntfError, match="marked as not private"):
        anonymize(mails, tmp_path / "out", ledger=ledger, **options)
    assert not ledger.runs()


def draws_before_it_is_charged(program, mails, tmp_path, monkeypatch):
    """Tell whether a program asks for random bits although the ledger refuses the run."""
    ledger = Ledger.create(tmp_path / f"{program.__name__}.ledger", document=5)
    asked = []
    with monkeypatch.context() as patch:
        patch.setattr("os.urandom", lambda size: asked.append(size) or bytes(size))
        with pytest.raises(BudgetError):
            program(mails, tmp_path / "refused", ledger=ledger, id="id")
    return bool(asked)


def planted(old, new):
    """Return `anonymize` with a fault: another text in its source."""
    source = inspect.getsource(job.anonymize)
    assert source.count(old) == 1
    names = dict(vars(job))
    exec(source.replace(old, new), names)
    return names["anonymize"]


def test_nothing_is_drawn_before_the_ledger_is_charged(mails, tmp_path, monkeypatch):
    assert not draws_before_it_is_charged(anonymize, mails, tmp_path, monkeypatch)
    scheme = "scheme = rows.scheme(len(documents))\n"
    early = planted(
        scheme, f"{scheme}            drawn = draw(scheme, documents.encoded, source)\n"
    )
    early.__name__ = "early"
    assert draws_before_it_is_charged(early, mails, tmp_path, monkeypatch)


@pytest.mark.parametrize("step", ["draw", "write_release"])
def test_after_a_failed_draw_the_charge_stays_and_can_be_cancelled(
    mails, tmp_path, monkeypatch, call, step
):
    ledger = Ledger.create(tmp_path / "a ledger", document=10)

    def fail(*arguments, **options):
        raise OSError("no entropy")

    with monkeypatch.context() as patch:
        patch.setattr(job, step, fail)
        with pytest.raises(OSError, match="no entropy") as caught:
            anonymize(mails, tmp_path / "out", ledger=ledger)
        with pytest.raises(BudgetError):
            anonymize(mails, tmp_path / "out", ledger=ledger)
    assert [run.cancelled for run in ledger.runs()] == [None]
    (note,) = caught.value.__notes__
    _, command = note.split("give it back by: ")
    code, out, err = call(*shlex.split(command)[1:])
    assert (code, err) == (0, "")
    assert "20 documents" in out
    assert anonymize(mails, tmp_path / "out", ledger=ledger).run.number == 2


# An input that changes during the run


@pytest.fixture
def pilot(monkeypatch):
    """Read batches of 200 documents, with a pilot of 30 from 100 documents on."""
    for module in (corpus, tables):
        monkeypatch.setattr(module, "BATCH", 200)
    monkeypatch.setattr(plan, "PILOT_FROM", 100)
    monkeypatch.setattr(plan, "pilot_size", lambda documents: 30)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("batch", [1, None])
def test_an_input_replaced_while_it_is_read_gives_no_document_twice(
    tmp_path, monkeypatch, pilot, suffix, batch
):
    """The same rows in another order, in place, with the same size and time.

    0.2 read the input twice and remembered its pilot by the numbers of rows, so that documents were
    drawn for twice. A change during the only pass is refused; after it, nothing is read any more.
    """
    path = tmp_path / f"texts.{suffix}"
    frame = pl.DataFrame(
        {"n": [f"{n:04}" for n in range(1200)], "text": [f"a cat and {n:04}" for n in range(1200)]}
    )
    write = pl.DataFrame.write_csv if suffix == "csv" else pl.DataFrame.write_parquet
    write(frame.reverse(), path)
    reversed_bytes = path.read_bytes()
    write(frame, path)
    times = os.stat(path)
    seen = []
    encode, draw = TopicRows.encode, job.draw

    def replace():
        with path.open("r+b") as file:
            file.write(reversed_bytes)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def encoding(self, texts, source):
        seen.append(len(texts))
        if len(seen) == batch:
            replace()
        return encode(self, texts, source)

    def drawing(scheme, encoded, source):
        if batch is None:
            replace()
        return draw(scheme, encoded, source)

    monkeypatch.setattr(TopicRows, "encode", encoding)
    monkeypatch.setattr(job, "draw", drawing)
    ledger = Ledger.create(tmp_path / "texts.ledger", document=10)
    options = {"id": "n", "shuffle": True, "ledger": ledger}
    if batch is not None:
        with pytest.raises(SyntfError, match=r"the input changed while|not a Parquet file"):
            anonymize(path, tmp_path / "out", **options)
        assert not ledger.runs()
        assert not (tmp_path / "out").exists()
        return
    assert anonymize(path, tmp_path / "out", **options).documents == 1200
    found = documents(tmp_path / "out")
    assert found["n"].n_unique() == 1200
    assert found["pilot"].sum() == 30
    assert verify(tmp_path / "out").ok


# Texts that once stopped a run


CHARSETS = [
    "idna",
    "undefined",
    "punycode",
    "\0",
    "rot13",
    "hex",
    "utf-7",
    "mbcs",
    "x" * 999,
    "zip",
]


def poisoned_mails():
    """Mails that made the parser of 0.2, or of Python, raise an error."""
    for charset in CHARSETS:
        yield f'Content-Type: text/plain; charset="{charset}"\n\nthe cat \udcff'
        yield f"Subject: =?{charset}?Q?the_cat=FF?=\n\nthe dog"
        yield f'Content-Type: text/html\n\n<meta charset="{charset}"><p>the car'
    nested = "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1000)
    )
    yield nested
    yield "Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n####\n" * 50
    yield "Content-Type: text/plain\nContent-Transfer-Encoding: uuencode\n\nbegin 666\nM\n"
    yield "Date: Mon, 99 Foo 99999 99:99:99 +9999\nFrom: @@<>,,;\nSubject:\n\n"
    yield "\0" * 100
    yield "Content-Type: multipart/mixed\n\nno boundary"


def as_bytes(text):
    return text.encode("utf-8", "surrogateescape")


def write_folder(folder):
    (folder / "mails").mkdir()
    for number, text in enumerate(poisoned_mails()):
        (folder / "mails" / f"{number:03}.eml").write_bytes(as_bytes(text))
        (folder / "mails" / f"{number:03}.html").write_bytes(as_bytes(text))
    for name in ("a.pdf", "b.docx", "c.txt"):
        (folder / "mails" / name).write_bytes(b"%PDF-1.7\n\xff\0PK\x03\x04")
    return folder / "mails", 2 * len([*poisoned_mails()]) + 3


def write_mbox(folder):
    box = mailbox.mbox(folder / "in.mbox")
    for text in poisoned_mails():
        box.add(as_bytes(text.replace("\0", "")))
    box.close()
    return folder / "in.mbox", len([*poisoned_mails()])


def write_jsonl(folder):
    deep = "[" * 5000 + "]" * 5000
    rows = [
        '{"text": "\\ud800 \\u0000"}',
        '{"text": 1e999}',
        f'{{"text": {deep}}}',
        '{"text": null}',
    ]
    rows += ['{"text": {"a": [1]}}', '{"text": true}', f'{{"text": {"9" * 5000}}}', '{"text": ""}']
    (folder / "in.jsonl").write_text("\n".join(rows))
    return folder / "in.jsonl", len(rows)


def write_csv(folder):
    rows = [b'"a ""cat"" \xff\r\n sat"', b"\0", b'""', b"\xef\xbb\xbf", b"=1+1", b"a" * 200_000]
    (folder / "in.csv").write_bytes(b"text\n" + b"\n".join(rows) + b"\n")
    return folder / "in.csv", len(rows)


def write_parquet(folder):
    raw = [b"\xff\xfe", b"", None, b"\0" * 9, *map(as_bytes, poisoned_mails())]
    pl.DataFrame({"text": pl.Series(raw, dtype=pl.Binary)}).write_parquet(folder / "in.parquet")
    return folder / "in.parquet", len(raw)


@pytest.mark.parametrize("write", [write_folder, write_mbox, write_jsonl, write_csv, write_parquet])
def test_no_text_stops_a_run(tmp_path, call, write):
    path, count = write(tmp_path)
    code, out, err = call("anonymize", path, "--json", "--out", tmp_path / "out")
    assert code == 0, err
    assert json.loads(out)["documents"] == count
    assert "a bug in syntf" not in err
    assert verify(tmp_path / "out").ok
