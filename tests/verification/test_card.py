"""The dataset card and the files for spreadsheets hold what the other files give, no more."""

import json
import shutil

import polars as pl
import pytest
from forging import failed, forge, stated, status

from syntf.core.release_names import CARD_FILE
from syntf.releases.job import release
from syntf.report import page
from syntf.verification.result import OK
from syntf.verification.verify import verify

TEXTS = ["the cat and a dog", "a car", "my dog", "the car and the cat"]


@pytest.fixture(scope="module", params=["document", "words"])
def original(request, tmp_path_factory):
    """A release for spreadsheets, with columns of several types."""
    folder = tmp_path_factory.mktemp("card")
    columns = {"text": TEXTS, "topic": ["=1", "b", None, "d, e"], "size": [1, 2, 3, 4]}
    pl.DataFrame(columns).write_parquet(folder / "in.parquet")
    chosen = {"document_loss": 10.0} if request.param == "document" else {"length": 5}
    release(
        folder / "in.parquet", folder / "out", keep=["topic", "size"], format="csv",
        shuffle=True, accept_coverage=True, **chosen,
    )  # fmt: skip
    return folder / "out"


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copytree(original, tmp_path / "release")


def test_a_release_for_spreadsheets_is_verified(original):
    result = verify(original)
    assert result.verified
    assert status(result)[CARD_FILE] == OK
    rows = (original / "documents.csv").read_text(encoding="utf-8-sig").splitlines()
    assert rows[0].startswith("document,topic,size")
    assert sorted(row.split(",")[1] for row in rows[1:]) == ["", '"d', "'=1", "b"]


def test_the_card_names_digests_columns_and_types(original):
    card = json.loads((original / CARD_FILE).read_bytes())
    files = {file["@id"]: file.get("sha256") for file in card["distribution"]}
    digests = stated(original).files
    assert {name: f"sha256:{digest}" for name, digest in files.items()} == {
        name: digests[name] for name in files
    }
    assert {"documents.parquet", "vectors.csv", "vocabulary.txt"} <= set(files)
    fields = {
        field["@id"]: field["dataType"] for set_ in card["recordSet"] for field in set_["field"]
    }
    assert fields["documents/topic"] == "sc:Text"
    assert fields["documents/size"] == "sc:Integer"
    assert fields["counts/count"] == "sc:Integer"


@pytest.mark.parametrize("place", ["description", "name", "distribution", "hidden"])
def test_a_changed_card_is_found(copy, place):
    card = json.loads((copy / CARD_FILE).read_bytes())
    card[place] = "The texts were about cats."
    (copy / CARD_FILE).write_text(json.dumps(card, indent=2) + "\n")
    forge(copy, card=False)
    assert failed(verify(copy))[0] == CARD_FILE


def test_a_release_without_a_card_is_verified(copy):
    """Releases of earlier versions have none."""
    (copy / CARD_FILE).unlink()
    forge(copy)
    result = verify(copy)
    assert result.verified
    assert CARD_FILE not in status(result)


def test_a_changed_spreadsheet_is_found(copy):
    path = copy / "documents.csv"
    path.write_bytes(path.read_bytes() + b"5,secret\n")
    forge(copy)
    assert "documents" in failed(verify(copy))


def test_a_card_in_other_words_is_verified_but_for_its_description(copy, monkeypatch):
    """A later version may reword the description, and nothing else."""
    clean = page._source
    monkeypatch.setattr(page, "_source", lambda name: clean(name).replace("Synthetic", "Made-up"))
    caches = (page.template_digest, page._environment)
    for cached in caches:
        cached.cache_clear()
    try:
        assert verify(copy).verified
        card = json.loads((copy / CARD_FILE).read_bytes())
        card["recordSet"] = []
        (copy / CARD_FILE).write_text(json.dumps(card, indent=2) + "\n")
        forge(copy, card=False)
        assert CARD_FILE in failed(verify(copy))
    finally:
        monkeypatch.undo()
        for cached in caches:
            cached.cache_clear()
