import errno
import itertools
import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix, load_npz

from syntf.core import tables
from syntf.core.counts import matrix
from syntf.core.entropy import system
from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import Guarantee, Losses
from syntf.releases import draft as drafts
from syntf.releases.contents.readme import render_readme
from syntf.releases.shuffle import shuffled
from syntf.report.page import template_digest
from syntf.report.table_summary import Chances, TableSummary

TERMS = ["cat", "café", "猫", "dog"]
COUNTS = csr_matrix(np.array([[3, 0, 0, 2], [0, 5, 0, 0], [1, 1, 2, 1]], dtype=np.int32))
DOCUMENTS = tables.from_polars(pl.DataFrame({"document": [0, 1, 2], "topic": ["a", None, "c, d"]}))
FILES = {
    "vectors.npz", "vocabulary.txt", "documents.parquet", "guarantee.json", "README.txt",
    "report.html", "croissant.json",
}  # fmt: skip
PORTRAIT = TableSummary(1, 1, Chances(0.25, 0.5, 0.25), [], (6.25, 312.5))


def promise(*, seeded=False, fitted=(), kept=("topic",), loss=1.25):
    provenance = {
        name: "fitted" if name in fitted else "public"
        for name in ("vocabulary", "vectors", "stop_words", "idf")
    }
    return Guarantee(
        mechanism="exponential-int62/1",
        epsilon=2.5,
        neighbours=None,
        spelling=0.3,
        length=5,
        morphology="lemma",
        synsets=False,
        analyzer="fast",
        weights="tf",
        draws="independent",
        vocabulary_size=4,
        inputs="outputs",
        input_size=4,
        loss_per_word=Losses(standard=2.5, improved=2.0, tight=loss),
        loss_ratio="7/2",
        loss_per_document=5 * loss,
        provenance=provenance,
        supplied=["vocabulary"],
        seeded=seeded,
        kept_columns=list(kept),
        shuffled=False,
        digest="sha256:" + "5a" * 32,
        vocabulary_digest="sha256:" + "a5" * 32,
        vectors_digest="sha256:" + "3c" * 32,
        private=not seeded and not fitted,
        version="1.2.3",
    )


def write(folder, *, counts=COUNTS, documents=DOCUMENTS, guarantee=None, force=False):
    promised = guarantee or promise()
    drafts.write(folder, counts, TERMS, documents, promised, PORTRAIT, force=force)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def umask():
    """Sets the umask for the one test."""
    old = os.umask(0o022)
    yield os.umask
    os.umask(old)


def test_a_release_holds_its_files_and_nothing_else(tmp_path):
    write(tmp_path / "out")
    assert set(contents(tmp_path / "out")) == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_vectors_are_the_counts(tmp_path):
    write(tmp_path / "out")
    found = load_npz(tmp_path / "out" / "vectors.npz")
    assert (found.format, found.dtype, found.shape) == ("csr", np.dtype(np.int32), (3, 4))
    assert np.array_equal(found.toarray(), COUNTS.toarray())


def test_vocabulary_file_has_one_term_per_line(tmp_path):
    write(tmp_path / "out")
    raw = (tmp_path / "out" / "vocabulary.txt").read_bytes()
    assert raw == "cat\ncafé\n猫\ndog\n".encode()


def test_documents_file_holds_the_given_columns(tmp_path):
    write(tmp_path / "out")
    assert pl.read_parquet(tmp_path / "out" / "documents.parquet").equals(pl.DataFrame(DOCUMENTS))


def test_the_guarantee_can_be_read_back(tmp_path):
    guarantee = promise(seeded=True)
    write(tmp_path / "out", guarantee=guarantee)
    found = json.loads((tmp_path / "out" / "guarantee.json").read_text(encoding="utf-8"))
    assert set(found["files"]) == FILES - {"guarantee.json"}
    assert found == replace(guarantee, files=found["files"], template=template_digest()).as_dict()
    assert found["loss_per_word"] == {"standard": 2.5, "improved": 2.0, "tight": 1.25}
    assert (found["loss_per_document"], found["length"]) == (6.25, 5)
    assert found["private"] is False
    assert found["kept_columns"] == ["topic"]
    assert guarantee["loss_per_word"]["tight"] == 1.25


def test_readme_states_losses_and_kept_columns(tmp_path):
    write(tmp_path / "out")
    text = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    assert "syntf 1.2.3" in text
    assert "From each document, 5 words\nwere drawn." in text
    assert "\n  documents                3\n" in text
    assert "\n  loss per word            1.2500\n" in text
    assert "\n  loss per document        6.25\n" in text
    assert "\n  largest factor per word  3.5\n" in text  # the exact ratio, 7/2
    assert "one row per document: document, topic\n" in text
    assert "outside the guarantee: columns topic." in text
    assert "The release is differentially private.\n" in text
    assert "sha256:" + "5a" * 32 in text
    assert "NOT" not in text


def test_readme_of_a_release_without_kept_columns():
    text = render_readme(replace(promise(kept=()), supplied=[]), 3, ["document"])
    assert "\n  * No column of the source is released here.\n" in text
    assert "Released unchanged" not in text


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kept", [(), ("topic",)])
def test_the_readme_tells_that_the_order_is_kept(kept, shuffled):
    text = render_readme(replace(promise(kept=kept), shuffled=shuffled), 3, ["document"])
    order = "\n  * The documents are in the order of the source. The guarantee does not cover this"
    assert (order in text) == (not shuffled)
    assert ("No column of the source is released here." in text) == (not kept)
    assert "Nothing but" not in text


def test_the_readme_of_a_seeded_release_says_not_private():
    text = render_readme(promise(seeded=True), 3, ["document"])
    assert "  * NOT PRIVATE: the random draws come from a seed" in text
    assert "differentially private.\n" not in text
    assert "NOT covered by a differential-privacy guarantee." in text


@pytest.mark.parametrize("fitted", [["vocabulary"], ["vocabulary", "idf"]])
def test_the_readme_of_a_fitted_release_names_what_was_fitted(fitted):
    text = render_readme(promise(fitted=fitted), 3, ["document"])
    assert f"  * NOT COVERED: {' and '.join(fitted)} fitted on the texts" in text
    assert "NOT covered by a differential-privacy guarantee." in text
    assert "NOT PRIVATE" not in text


@pytest.mark.parametrize(
    "guarantee",
    [
        promise(),
        promise(seeded=True, fitted=["vocabulary", "idf"], kept=[f"column {i}" for i in range(40)]),
        replace(promise(loss=5e4), length=1 << 20, loss_per_document=5e4 * (1 << 20)),
    ],
)
def test_no_line_of_the_readme_is_long(guarantee):
    text = render_readme(guarantee, 123_456_789, ["document", *guarantee.kept_columns])
    assert max(map(len, text.splitlines())) <= 90
    for column in guarantee.kept_columns:
        assert column in " ".join(text.split())


def test_an_existing_folder_is_refused_and_left_alone(tmp_path):
    write(tmp_path / "out")
    before = contents(tmp_path / "out")
    with pytest.raises(SyntfError, match=r"out exists already: .*--force"):
        write(tmp_path / "out", guarantee=promise(seeded=True))
    assert contents(tmp_path / "out") == before
    (tmp_path / "empty").mkdir()
    with pytest.raises(SyntfError, match="empty exists already"):
        write(tmp_path / "empty")


def test_force_replaces_the_whole_release(tmp_path):
    write(tmp_path / "out")
    (tmp_path / "out" / "README.txt").unlink()
    write(
        tmp_path / "out",
        counts=COUNTS[:1],
        documents=DOCUMENTS.slice(0, 1),
        guarantee=promise(seeded=True),
        force=True,
    )
    assert set(contents(tmp_path / "out")) == FILES
    assert load_npz(tmp_path / "out" / "vectors.npz").shape == (1, 4)
    assert json.loads((tmp_path / "out" / "guarantee.json").read_bytes())["private"] is False
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_accepts_an_empty_or_missing_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "missing"):
        write(tmp_path / name, force=True)
        assert set(contents(tmp_path / name)) == FILES


@pytest.mark.parametrize("name", ["thesis.doc", ".hidden", "vectors.npz.bak"])
def test_force_does_not_replace_a_folder_with_other_files(tmp_path, name):
    write(tmp_path / "out")
    (tmp_path / "out" / name).write_bytes(b"mine")
    before = contents(tmp_path / "out")
    with pytest.raises(SyntfError, match="is not a release of syntf"):
        write(tmp_path / "out", force=True)
    assert contents(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_force_does_not_replace_a_file(tmp_path):
    (tmp_path / "out").write_bytes(b"mine")
    with pytest.raises(SyntfError, match="is not a release of syntf"):
        write(tmp_path / "out", force=True)
    assert (tmp_path / "out").read_bytes() == b"mine"


@pytest.mark.parametrize("target", ["release", "nowhere"])
def test_a_symbolic_link_is_refused_with_and_without_force(tmp_path, target):
    write(tmp_path / "release")
    before = contents(tmp_path / "release")
    link = tmp_path / "out"
    link.symlink_to(tmp_path / target, target_is_directory=True)
    with pytest.raises(SyntfError, match="exists already"):
        write(link)
    with pytest.raises(SyntfError, match="is not a release of syntf"):
        write(link, force=True)
    assert link.is_symlink()
    assert contents(tmp_path / "release") == before
    assert not (tmp_path / "nowhere").exists()


def test_a_missing_parent_folder_is_refused_and_not_created(tmp_path):
    with pytest.raises(SyntfError, match="years does not exist: create it first"):
        write(tmp_path / "years" / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_the_parent_folder_is_named(tmp_path):
    (tmp_path / "mails.csv").write_text("text\n")
    with pytest.raises(SyntfError, match=r"mails\.csv is a file, not a folder"):
        write(tmp_path / "mails.csv" / "out")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_parent_that_cannot_be_written_is_refused(tmp_path):
    parent = tmp_path / "locked"
    parent.mkdir(mode=0o555)
    with pytest.raises(SyntfError, match="locked cannot be written to"):
        write(parent / "out")
    assert list(parent.iterdir()) == []


def test_a_target_may_be_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(Path("out"))
    assert set(contents(tmp_path / "out")) == FILES


def full(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*args, **kwargs):
    raise KeyboardInterrupt


WRITING = [
    "syntf.releases.contents.archive.write",
    "syntf.core.tables.write_parquet",
    "syntf.releases.contents.folder.render_readme",
]


@pytest.mark.parametrize("place", [*WRITING, "os.fsync", "os.rename"])
@pytest.mark.parametrize(("fault", "error"), [(full, OSError), (interrupted, KeyboardInterrupt)])
def test_a_failure_leaves_nothing_behind(tmp_path, monkeypatch, place, fault, error):
    monkeypatch.setattr(place, fault)
    with pytest.raises(error):
        write(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", [*WRITING, "os.fsync", "os.rename"])
@pytest.mark.parametrize(("fault", "error"), [(full, OSError), (interrupted, KeyboardInterrupt)])
def test_a_failure_with_force_leaves_the_old_release(tmp_path, monkeypatch, place, fault, error):
    write(tmp_path / "out")
    before = contents(tmp_path / "out")
    monkeypatch.setattr(place, fault)
    with pytest.raises(error):
        write(tmp_path / "out", guarantee=promise(seeded=True), force=True)
    assert contents(tmp_path / "out") == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("fault", [full, interrupted])
def test_a_failure_to_put_the_new_release_in_place_restores_the_old(tmp_path, monkeypatch, fault):
    write(tmp_path / "out")
    before = contents(tmp_path / "out")
    rename = os.rename

    def no_new_one(path, target):
        if b'"private": false' in contents(Path(path))["guarantee.json"]:
            fault()
        rename(path, target)

    monkeypatch.setattr("os.rename", no_new_one)
    with pytest.raises((OSError, KeyboardInterrupt)):
        write(tmp_path / "out", guarantee=promise(seeded=True), force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert contents(tmp_path / "out") == before


def test_the_target_appears_only_when_all_files_are_on_disk(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("os.fsync", lambda number: seen.append((tmp_path / "out").exists()))
    write(tmp_path / "out")
    assert len(seen) >= len(FILES)
    assert not any(seen[: len(FILES)])


@pytest.mark.parametrize(("mask", "folder", "file"), [(0o022, 0o755, 0o644), (0o027, 0o750, 0o640)])
def test_permissions_follow_the_umask(tmp_path, umask, mask, folder, file):
    umask(mask)
    write(tmp_path / "out")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == folder
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()} == {file}
    assert os.umask(mask) == mask


def test_force_does_not_replace_a_folder_that_only_looks_like_a_release(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "README.txt").write_text("mine")
    with pytest.raises(SyntfError, match="not a release"):
        write(tmp_path / "out", force=True)
    assert (tmp_path / "out" / "README.txt").read_text() == "mine"


def test_a_small_first_shard_stays_in_memory(tmp_path, monkeypatch):
    """Too little to go on with is not written twice: it waits in memory."""
    monkeypatch.setattr(drafts, "SHARD", 4)
    with drafts.Draft(tmp_path / "out") as draft:
        draft.add(COUNTS, DOCUMENTS)
        assert os.listdir(tmp_path / ".out.partial") == ["lock"]
        assert draft.documents == 3
        draft.finish(TERMS, promise(), PORTRAIT)
    assert set(contents(tmp_path / "out")) == FILES
    assert np.array_equal(load_npz(tmp_path / "out" / "vectors.npz").toarray(), COUNTS.toarray())


def test_a_draft_holds_no_open_file_where_there_are_no_locks(tmp_path, monkeypatch):
    """Windows cannot delete an open file, so the folder of the draft would stay."""
    monkeypatch.setattr(drafts, "fcntl", None)
    with drafts.Draft(tmp_path / "out") as draft:
        assert os.listdir(tmp_path / ".out.partial") == []
        draft.add(COUNTS, DOCUMENTS)
        draft.finish(TERMS, promise(), PORTRAIT)
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("size", [3, 4])
def test_full_shards_are_written_to_disk_at_once(tmp_path, monkeypatch, size):
    """A shard that is full; and a short one, as soon as another follows."""
    monkeypatch.setattr(drafts, "SHARD", size)

    def begin():
        with drafts.Draft(tmp_path / "out") as draft:
            draft.add(COUNTS, DOCUMENTS)
            if size == 4:
                draft.add(COUNTS[:2], DOCUMENTS.slice(0, 2))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        begin()
    total = {3: 3, 4: 5}[size]
    assert raised.value.__notes__ == [f"{total} documents are done: add --resume to go on"]
    state = json.loads((tmp_path / ".out.partial" / "state.json").read_text())
    assert state["rows"] == {3: [3], 4: [3, 2]}[size]
    with drafts.Draft(tmp_path / "out", resume=True) as draft:
        assert draft.documents == total
        draft.add(COUNTS[2:], DOCUMENTS.slice(2))
        draft.finish(TERMS, promise(), PORTRAIT)
    parts = sorted((tmp_path / "out").glob("vectors-*.npz"))
    rows = [row for part in parts for row in load_npz(part).toarray().tolist()]
    own = COUNTS.toarray().tolist()
    assert rows == [*own, *own[: total - 3], own[2]]


def test_a_single_shard_is_shuffled_uniformly(tmp_path):
    """Each of the six orders of three documents, over 600 shuffles: chi-square, 5 degrees, 1e-6."""
    seen = dict.fromkeys(itertools.permutations(range(3)), 0)
    for _ in range(600):
        ((counts, documents),) = shuffled(lambda shard: (COUNTS, DOCUMENTS), 1, tmp_path, system)
        order = tables.values_of(documents, "document")
        assert np.array_equal(matrix(counts).toarray(), COUNTS.toarray()[order])
        seen[tuple(order)] += 1
    assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 37.3
    assert list(tmp_path.iterdir()) == []


def test_a_release_may_have_no_documents(tmp_path):
    with drafts.Draft(tmp_path / "out") as draft:
        draft.finish(TERMS, promise(), PORTRAIT, shuffle=system)
    assert set(contents(tmp_path / "out")) == FILES - {"vectors.npz", "documents.parquet"}
