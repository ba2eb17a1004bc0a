"""Releases of every version stay verifiable, and rewording a sentence leaves releases valid."""

import json
import shutil
from contextlib import nullcontext
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from syntf import __version__
from syntf.cli.commands import verify as command
from syntf.core import tables
from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import CAVEATS, CHECKSUM, FORMAT, canonical_json, checksum
from syntf.releases import draft
from syntf.report import page
from syntf.report.document_summary import DocumentSummary
from syntf.report.figures import Sparsity
from syntf.report.page import render_report
from syntf.report.table_summary import summarize_table
from syntf.verification import texts
from syntf.verification.guarantee_file import FORMATS, read_guarantee
from syntf.verification.release_folder import shard_names
from syntf.verification.result import CHECKS, FAILED, NOT_CHECKED, OK, UNVERIFIABLE
from syntf.verification.verify import verify

RELEASES = Path(__file__).with_name("releases")
EARLIER = sorted(path for path in RELEASES.glob("*/*"))
TEXTS = ["The cat and the dog run.", "", "A piano on a boat, a song.", "bread and cheese"]


def details(result):
    return {check.name: check.detail for check in result.checks}


def reseal(folder, **fields):
    """Change fields of guarantee.json, and the digests of all files; recompute the checksum."""
    path = folder / "guarantee.json"
    record = json.loads(path.read_bytes())
    del record[CHECKSUM]
    record.update(fields)
    record["files"] = {
        name: f"sha256:{sha256((folder / name).read_bytes()).hexdigest()}"
        for name in record["files"]
    }
    path.write_text(canonical_json({**record, CHECKSUM: checksum(record)}))


@pytest.fixture
def release(toy_vectors, toy_words, tmp_path):
    settings = Settings(
        vectors=toy_vectors, vocabulary=toy_words, length=20, neighbours=2, loss=4.0
    )
    anonymizer = Anonymizer.build(settings, TEXTS)
    draft.write(
        tmp_path / "release", anonymizer.anonymize(TEXTS), anonymizer.vocabulary.outputs,
        tables.from_polars(pl.DataFrame({"document": range(len(TEXTS))})), anonymizer.guarantee(),
        summarize_table(anonymizer.mechanism, anonymizer.vocabulary, length=20),
    )  # fmt: skip
    return tmp_path / "release"


@pytest.fixture
def reword(monkeypatch):
    """Change sentences of the templates, as a later version may."""
    clean = page._source

    def reworded(name):
        return clean(name).replace("What it means", "The meaning of it").replace("Files", "Parts")

    def change():
        monkeypatch.setattr(page, "_source", reworded)
        page.template_digest.cache_clear()
        page._environment.cache_clear()

    yield change
    monkeypatch.undo()
    page.template_digest.cache_clear()
    page._environment.cache_clear()


def test_there_is_a_release_of_every_earlier_version():
    assert {path.name for path in RELEASES.iterdir()} == set(FORMATS) - {__version__}


@pytest.mark.parametrize("folder", EARLIER, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_releases_of_earlier_versions_are_verified(folder):
    result = verify(folder)
    assert result.with_status(FAILED) == result.with_status(NOT_CHECKED) == []
    assert result.verified
    assert result.guarantee.version == folder.parent.name
    assert details(result)["README.txt"].endswith("the wording is not compared")
    assert "wording" in [check.name for check in result.with_status(UNVERIFIABLE)]


@pytest.mark.parametrize(
    ("name", "old", "new", "where"),
    [
        ("README.txt", b"word       8.0000", b"word       0.8000", "README.txt"),
        ("README.txt", b"   96.00  (12", b"    9.60  (12", "README.txt"),
        ("README.txt", b"the 6 documents", b"the 7 documents", "README.txt"),
        ("README.txt", b"Table digest  sha256:b", b"Table digest  sha256:a", "README.txt"),
        ("report.html", b">96.00</span>", b">9.60</span>", "report.html"),
        ("report.html", b"released word</th><td>8.", b"released word</th><td>0.", "report.html"),
        ("report.html", b"<main>", b"<main><script>alert(1)</script>", "report.html"),
        ("report.html", b"<main>", b'<main><p onclick="alert(1)">x</p>', "report.html"),
        ("report.html", b"<main>", b'<main><a href="http://example.org">x</a>', "report.html"),
        ("report.html", b"<main>", b"<main><!-- hidden -->", "report.html"),
        ("report.html", b"default-src 'none'", b"default-src 'self'", "report.html"),
        ("report.html", b'<meta charset="utf-8">',
         b'<meta http-equiv="refresh" content="0;url=http://example.org">', "report.html"),
    ],
)  # fmt: skip
def test_forged_figures_of_0_1_0_are_found(tmp_path, name, old, new, where):
    folder = shutil.copytree(RELEASES / "0.1.0" / "npz", tmp_path / "release")
    raw = (folder / name).read_bytes()
    assert raw.count(old) == 1
    (folder / name).write_bytes(raw.replace(old, new))
    reseal(folder)
    assert [check.name for check in verify(folder).with_status(FAILED)] == [where]


@pytest.mark.parametrize(
    ("loss", "now", "before"),
    [
        (1, "2.72 to 1", "2.719 to 1"),
        (6, "403 to 1", "403.5 to 1"),
        (10, "22,026 to 1", "22,030 to 1"),
        (20, "485,165,195 to 1", "485,200,000 to 1"),
    ],
)
def test_odds_of_earlier_programs_are_known(tmp_path, loss, now, before):
    """They were rounded in another way, and their releases have the same version."""
    settings = Settings.from_preset(document_loss=float(loss))
    guarantee = replace(DocumentAnonymizer.build(settings).guarantee(), template="sha256:0")
    summary = DocumentSummary(0.9, 1000, 3, [])
    sparsity = Sparsity(np.array([0, 3]))
    page = render_report(guarantee, summary, sparsity)
    for odds, known in ((now, True), (before, True), (f"1{now}", False)):
        changed = page.replace(f'"after": "{now}"', f'"after": "{odds}"')
        assert (changed == page) == (odds == now)
        (tmp_path / "report.html").write_text(changed)
        expected = nullcontext() if known else pytest.raises(SyntfError, match="figure 'odds'")
        with expected:
            texts.check_rendered_report(tmp_path, guarantee, summary, sparsity)


def test_a_release_stays_valid_when_sentences_are_reworded(release, toy_vectors, reword):
    before = verify(release, vectors=lambda: toy_vectors)
    assert details(before)["README.txt"] == "the same bytes when rendered again"
    assert before.verified
    reword()
    after = verify(release, vectors=lambda: toy_vectors)
    assert after.verified
    for name in ("README.txt", "report.html"):
        assert details(after)[name] == "the figures are right; the wording is not compared"
    assert "wording" in [check.name for check in after.with_status(UNVERIFIABLE)]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("README.txt", b"document        80.00", b"document        8.00"),
        ("README.txt", b"documents                4", b"documents                5"),
        ("report.html", b'"document": "80.00"', b'"document": "8.00"'),
        ("report.html", b'"author_documents": 50', b'"surprise": 50'),
        ("report.html", b'<pre id="figures">', b'<pre id="other">'),
        ("report.html", b"<main>", b"<main><script>alert(1)</script>"),
    ],
)
def test_figures_are_compared_when_the_wording_is_not(release, toy_vectors, reword, name, old, new):
    raw = (release / name).read_bytes()
    assert old in raw
    (release / name).write_bytes(raw.replace(old, new))
    reseal(release)
    reword()
    assert [
        one.name for one in verify(release, vectors=lambda: toy_vectors).with_status(FAILED)
    ] == [name]


def test_the_template_digest_covers_all_wording(reword, monkeypatch):
    found = {page.template_digest()}
    reword()
    found.add(page.template_digest())
    page.template_digest.cache_clear()
    monkeypatch.setitem(CAVEATS, "seeded", "NOT PRIVATE: a seed was used.")
    found.add(page.template_digest())
    assert len(found) == 3
    folder = Path(page.__file__).parent / "templates"
    assert sorted(path.name for path in folder.iterdir()) == sorted(page.TEMPLATES)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"version": "9.9.9"}, "written by syntf 9.9.9"),
        ({"version": "0.2.1"}, "written by syntf 0.2.1"),
        ({"version": "9.9.9", "format": 3}, "written by syntf 9.9.9"),
        ({"version": "a\x1b[2J"}, "written by syntf a?[2J"),
    ],
)
def test_a_release_of_an_unknown_version_is_not_checked(
    release, toy_vectors, fields, message, capsys
):
    reseal(release, **fields)
    result = verify(release, vectors=lambda: toy_vectors)
    assert not result.verified
    assert result.verdict == "not checked"
    assert {check.status for check in result.checks} == {NOT_CHECKED}
    assert [check.name for check in result.checks] == list(CHECKS)
    assert message in details(result)["guarantee.json"]
    assert f"syntf {__version__} does not know" in details(result)["guarantee.json"]
    assert command.command.callback(release, None, None, False, False, False, True) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("NOT CHECKED")


def test_a_format_that_its_version_does_not_write_is_refused(release, toy_vectors):
    for version, format in ((__version__, FORMAT + 1), ("0.1.0", FORMAT)):
        reseal(release, version=version, format=format)
        result = verify(release, vectors=lambda: toy_vectors)
        assert result.verdict == "failed"
        assert f"does not write format {format}" in details(result)["guarantee.json"]


def test_a_new_release_has_the_current_format(release):
    guarantee = read_guarantee((release / "guarantee.json").read_bytes()).guarantee
    assert (guarantee.format, guarantee.version) == (FORMAT, __version__)
    assert guarantee.template == page.template_digest()
    assert replace(guarantee, template="").caveats == guarantee.caveats
    assert verify(release).checks[0].status == OK


JOB = "c361d99f-3720-4b05-b562-90622046191d"
OTHER_JOB = "d0c00003-5a75-4b05-b562-90622046191d"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        (f"part-00000-{JOB}-c000.snappy.parquet", True),
        (f"part-00000-{JOB}-c000.zstd.parquet", True),
        (f"part-00000-{JOB}-c000.parquet", True),
        (f"part-00000-tid-6157397893465436421-{JOB}-12-1-c000.snappy.parquet", True),
        ("part-00000-document-3-says-that-I-resign.parquet", False),
        (f"part-00000-{JOB}-c000.I.resign.parquet", False),
        (f"part-00000-{JOB}-c000.snappy.parquet\n", False),
    ],
)
def test_names_of_files_by_spark_hold_no_text(tmp_path, name, known):
    folder = tmp_path / "release"
    shutil.copytree(RELEASES / "0.1.0" / "spark", folder)
    (part,) = (folder / "data").iterdir()
    part.rename(folder / "data" / name)
    record = json.loads((folder / "guarantee.json").read_bytes())
    files = {
        f"data/{name}" if old.startswith("data/") else old: digest
        for old, digest in record["files"].items()
    }
    (folder / "guarantee.json").write_text(json.dumps({**record, "files": files}))
    reseal(folder)
    assert details(verify(folder))["files"].startswith(
        "4 and no other" if known else "guarantee.json does not name"
    )


def test_files_of_several_jobs_of_spark_are_refused():
    names = [f"data/part-0000{at}-{job}-c000.parquet" for at, job in enumerate((JOB, OTHER_JOB))]
    own = read_guarantee((RELEASES / "0.1.0" / "spark" / "guarantee.json").read_bytes()).guarantee
    with pytest.raises(SyntfError, match="several jobs"):
        list(shard_names(replace(own, files=dict.fromkeys(names, "sha256:0"))))
    assert list(shard_names(replace(own, files={names[0]: "sha256:0"}))) == [(names[0],) * 2]
