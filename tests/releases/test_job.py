"""The job from Python: ``syntf.release`` does what ``syntf anonymize`` does."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import load_npz

from syntf.core.errors import BudgetError, SyntfError
from syntf.ledger.ledger import Ledger
from syntf.pipeline.settings import Settings
from syntf.releases.job import release
from syntf.verification.verify import verify

OPTIONS = {"length": 5, "vocabulary": ["cat", "dog", "car"]}


@pytest.fixture
def mails(tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text("text,topic,who\nthe cat,pets,ann\na dog,pets,bob\nthe car,cars,ann\n")
    return path


def test_release_returns_what_it_wrote(mails, tmp_path):
    made = release(mails, tmp_path / "out", keep=["topic"], **OPTIONS)
    assert (made.path, made.documents) == (tmp_path / "out", 3)
    assert made.guarantee.as_json() == (tmp_path / "out" / "guarantee.json").read_text()
    assert (made.skipped_rows, made.skipped, made.ledger_run) == (0, [], None)
    counts = load_npz(tmp_path / "out" / "vectors.npz")
    assert counts.sum(axis=1).tolist() == [[5]] * 3
    columns = pl.read_parquet(tmp_path / "out" / "documents.parquet").columns
    assert columns == ["document", "topic"]


def test_release_and_the_command_write_the_same_bytes(mails, tmp_path, call):
    (tmp_path / "terms.txt").write_text("cat\ndog\ncar\n")
    terms = tmp_path / "terms.txt"
    release(
        str(mails), str(tmp_path / "a"), id="who", shuffle=True, format="jsonl",
        insecure_seed=3, length=5, vocabulary=terms,
    )  # fmt: skip
    arguments = ["anonymize", mails, "--id", "who", "--shuffle", "--format", "jsonl", "--length", 5]
    code, _, err = call(
        *arguments, "--vocabulary", terms, "--insecure-seed", 3, "--out", tmp_path / "b"
    )
    assert (code, err) == (0, "")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_release_takes_several_inputs_and_settings(mails, tmp_path):
    (tmp_path / "more.csv").write_text(mails.read_text())
    settings = Settings(**OPTIONS)
    made = release([mails, tmp_path / "more.csv"], tmp_path / "out", settings=settings)
    assert made.documents == 6
    assert np.array(made.guarantee.length) == 5
    with pytest.raises(SyntfError, match="give settings or length, not both"):
        release(mails, tmp_path / "other", settings=settings, length=5)


def test_release_charges_a_ledger_and_obeys_its_refusal(mails, tmp_path):
    ledger = Ledger.create(tmp_path / "texts.ledger", author_budget=100)
    arguments = {"ledger": ledger, "author": "who", **OPTIONS}
    made = release(mails, tmp_path / "out", **arguments)
    assert made.ledger_run is not None
    assert (made.ledger_run.number, made.ledger_run.documents) == (1, 3)
    with pytest.raises(BudgetError, match="the ledger refuses this run"):
        release(mails, tmp_path / "second", **arguments)
    assert not (tmp_path / "second").exists()
    assert len(ledger.verify().runs) == 1


def test_a_column_that_cannot_be_released_charges_no_ledger(tmp_path):
    """The type is known from the first rows, so the run ends before it is charged."""
    large = pl.Series("number", [1, 2, 3], dtype=pl.Int128)
    pl.DataFrame([pl.Series("body", ["a cat", "a dog", "a car"]), large]).write_ipc(
        tmp_path / "mails.arrow"
    )
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=1000)
    with pytest.raises(SyntfError, match="'number', because of its type, Int128") as refused:
        release(
            tmp_path / "mails.arrow", tmp_path / "out", text="body", keep=["number"], ledger=ledger,
            **OPTIONS,
        )  # fmt: skip
    assert not getattr(refused.value, "__notes__", [])
    assert not ledger.verify().runs


@pytest.mark.parametrize("format", ["npz", "csv"])
def test_a_date_that_python_does_not_have_charges_no_ledger(tmp_path, format):
    """Databases write infinity as such a date. It may stand in any row."""
    day = pl.Series("day", [0] * 1999 + [2**31 - 1], dtype=pl.Int32).cast(pl.Date)
    frame = pl.DataFrame({"text": ["a fast car"] * 2000}).with_columns(day)
    frame.write_parquet(tmp_path / "mails.parquet")
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=1000)
    with pytest.raises(SyntfError, match="the column 'day' holds a date outside the years"):
        release(
            tmp_path / "mails.parquet", tmp_path / "out", keep=["day"], ledger=ledger,
            format=format, **OPTIONS,
        )  # fmt: skip
    assert not ledger.verify().runs
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_nul_in_the_name_of_a_kept_column_charges_no_ledger(tmp_path, suffix):
    frame = pl.DataFrame({"text": ["a dog", "a cat"], "to\0pic": ["pets", "pets"]})
    place = tmp_path / f"mails.{suffix}"
    match suffix:
        case "csv":
            frame.write_csv(place)
        case "jsonl":
            frame.write_ndjson(place)
        case "parquet":
            frame.rename({"to\0pic": "topic"}).write_parquet(place)
            place.write_bytes(place.read_bytes().replace(b"topic", b"to\0ic"))
    name = "to\0ic" if suffix == "parquet" else "to\0pic"
    ledger = Ledger.create(tmp_path / "texts.ledger", budget=1000)
    with pytest.raises(SyntfError, match="its name has a NUL character: rename it"):
        release(place, tmp_path / "out", keep=[name], ledger=ledger, **OPTIONS)
    assert not ledger.verify().runs


def test_release_refuses_texts_in_place_of_paths(tmp_path):
    texts = pl.DataFrame({"text": ["secret one", "secret two"]})
    long = "a secret? " * 30
    for inputs in (texts, texts["text"], texts["text"].to_numpy(), [b"secret"], long, [long]):
        with pytest.raises(SyntfError, match="not texts") as caught:
            release(inputs, tmp_path / "out", **OPTIONS)
        assert "secret" not in str(caught.value)


def test_release_reports_the_broken_rows_that_it_skipped(mails, tmp_path):
    mails.write_text(mails.read_text() + "too,many,fields,here\n")
    with pytest.raises(SyntfError, match="line 5"):
        release(mails, tmp_path / "out", **OPTIONS)
    made = release(mails, tmp_path / "out", bad_rows="skip", max_bad_rows=0.5, **OPTIONS)
    assert (made.documents, made.skipped_rows) == (3, 1)
    assert "line 5" in made.skipped[0]


def test_release_refuses_no_input_and_a_single_name_in_place_of_a_list(mails, tmp_path):
    with pytest.raises(SyntfError, match="there is no input"):
        release([], tmp_path / "out", **OPTIONS)
    with pytest.raises(SyntfError, match=r"keep is a list of columns: keep=\['who'\]"):
        release(mails, tmp_path / "out", **{**OPTIONS, "keep": "who"})
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("format", "xls"),
        ("bad_rows", "stopp"),
        ("undecodable", "stopp"),
        ("input_format", "exel"),
        ("shuffle", "no"),
    ],
)
def test_release_refuses_a_mistyped_value_before_it_charges(mails, tmp_path, option, value):
    ledger = Ledger.create(tmp_path / "mails.ledger", budget=100)
    with pytest.raises(SyntfError, match=f"^{option} must be .*, not '{value}'$"):
        release(mails, tmp_path / "out", ledger=ledger, **{**OPTIONS, option: value})
    assert not ledger.verify().runs
    assert not (tmp_path / "out").exists()


def test_verify_takes_the_name_of_a_folder(mails, tmp_path):
    release(mails, tmp_path / "out", **OPTIONS)
    assert verify(str(tmp_path / "out")).verified
