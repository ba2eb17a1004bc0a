"""Releases larger than a batch: shards, resuming, shuffling; each document drawn for once."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix, load_npz, vstack

from syntf.cli.app import main
from syntf.core import entropy, tables
from syntf.core.counts import matrix
from syntf.inputs import corpus
from syntf.inputs.formats import csv_rows
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.pipeline.anonymizer import Anonymizer
from syntf.releases import draft as drafts
from syntf.releases import shuffle
from syntf.releases.contents import folder
from syntf.releases.shuffle import shuffled

TERMS = ["cat", "dog", "car", "train", "music", "river", "bread", "garden"]
COUNT = 230


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A corpus in which every document is one word, so that rows can be told apart."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "terms.txt").write_text("\n".join(TERMS))
    rows = "".join(f"{i},{TERMS[i % 8]},{TERMS[i % 8]}\n" for i in range(COUNT))
    (tmp_path / "texts.csv").write_text("n,text,word\n" + rows)
    return tmp_path


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(corpus, "BATCH", 20)
    monkeypatch.setattr(drafts, "SHARD", 60)


ARGUMENTS = ["anonymize", "texts.csv", "--vocabulary", "terms.txt", "--spelling", "0", "--epsilon",
             "60", "--length", "12", "--keep", "n", "word", "--out", "out"]  # fmt: skip


def syntf(monkeypatch, *more, arguments=ARGUMENTS):
    monkeypatch.setattr(sys, "argv", ["syntf", *arguments, *more])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def released(folder):
    counts = vstack([load_npz(path) for path in sorted(folder.glob("vectors*.npz"))])
    frames = [pl.read_parquet(path) for path in sorted(folder.glob("documents*.parquet"))]
    return counts.toarray(), pl.concat(frames)


def check(folder):
    """Every document once, numbered in order, with its own counts and columns."""
    counts, documents = released(folder)
    assert (counts.sum(axis=1) == 12).all()
    assert documents["document"].to_list() == list(range(COUNT))
    assert sorted(documents["n"].cast(int)) == list(range(COUNT))
    most = [TERMS[column] for column in counts.argmax(axis=1)]
    agree = np.mean([word == drawn for word, drawn in zip(documents["word"], most, strict=True)])
    assert agree > 0.99
    return documents["n"].cast(int).to_list()


def test_a_release_of_one_shard_has_plain_file_names(place, monkeypatch):
    assert syntf(monkeypatch) == 0
    assert (place / "out" / "vectors.npz").exists()
    assert check(place / "out") == list(range(COUNT))


@pytest.mark.parametrize("more", [[], ["--shuffle"]])
def test_a_large_release_has_several_shards(place, small, monkeypatch, more):
    assert syntf(monkeypatch, *more) == 0
    names = sorted(path.name for path in (place / "out").iterdir())
    assert [name for name in names if "vectors" in name] == [
        f"vectors-0000{i}.npz" for i in range(4)
    ]
    order = check(place / "out")
    assert (order == list(range(COUNT))) == (not more)
    assert "vectors-*.npz" in (place / "out" / "README.txt").read_text()
    assert sorted(os.listdir(place)) == ["out", "terms.txt", "texts.csv"]


@pytest.mark.parametrize(
    ("piles", "together"),
    [
        pytest.param(64, 1 << 16, marks=pytest.mark.slow),
        pytest.param(2, 1 << 16, marks=pytest.mark.slow),
        (2, 4),
    ],
)
def test_a_shuffle_over_shards_is_uniform(tmp_path, monkeypatch, piles, together):
    """Where document 0 ends up, over 200 shuffles of 30 documents in 3 shards: chi-square.

    With two piles, the first is dealt again: for its two shards, in pieces of all or of a few.
    """
    monkeypatch.setattr(shuffle, "PILES", piles)
    monkeypatch.setattr(shuffle, "DEALT_TOGETHER", together)
    places = []
    counts = csr_matrix(np.eye(10, 10, dtype=np.int32))
    shards = [(counts, tables.of({"n": tables.numbers(np.arange(a, a + 10))})) for a in (0, 10, 20)]
    with drafts.Draft(tmp_path / "out") as draft:
        for counts, documents in shards:
            draft.add(counts, documents)
        for _ in range(200):
            order = []
            for counts, documents in shuffled(draft.read_shard, 3, tmp_path, entropy.system):
                numbers = tables.values_of(documents, "n")
                order += numbers
                columns = matrix(counts).toarray().argmax(axis=1)
                assert columns.tolist() == [number % 10 for number in numbers]
            assert not list(tmp_path.glob("pile*"))
            places.append(order.index(0))
            assert sorted(order) == list(range(30))
    tenths = np.bincount(np.array(places) // 3, minlength=10)
    assert ((tenths - 20) ** 2 / 20).sum() < 45.1  # 9 degrees, 1e-6


@pytest.mark.parametrize("format", ["jsonl", "text", "svmlight", "mtx", "parquet"])
def test_every_format_supports_shards(place, small, monkeypatch, format):
    assert syntf(monkeypatch, "--format", format) == 0
    parts = sorted((place / "out").glob("vectors-*"))
    assert len(parts) == 4
    if format == "jsonl":
        lines = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
        assert [line["document"] for line in lines] == list(range(COUNT))


SCRIPT = """
import os, signal, sys
from syntf.inputs import corpus
from syntf.releases import draft
from syntf.releases.contents import archive, folder
corpus.BATCH, draft.SHARD = 20, 60
point = int(sys.argv.pop(1))
seen = 0
def kill(*arguments):
    global seen
    seen += 1
    if seen == point:
        os.kill(os.getpid(), signal.SIGKILL)
for module, name in ((os, "replace"), (os, "fsync"), (archive, "write"), (draft, "npz"),
                     (draft, "write_documents"), (folder, "write_documents"),
                     (folder, "render_readme"), (draft, "place_folder")):
    original = getattr(module, name)
    def wrapped(*arguments, original=original, **named):
        kill()
        result = original(*arguments, **named)
        kill()
        return result
    setattr(module, name, wrapped)
from syntf.cli.app import main
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
main()
"""


def killed_at(point, *more):
    command = [sys.executable, "-c", SCRIPT, str(point), *ARGUMENTS, *more]
    return subprocess.run(command, capture_output=True, text=True).returncode


@pytest.mark.parametrize("point", [1, 8, 15, 30, 45, 62, 85, 105, 125])
def test_a_killed_run_is_resumed_and_draws_for_no_document_twice(place, small, monkeypatch, point):
    """kill -9 anywhere: no release, and the shards that were complete are in it unchanged."""
    assert killed_at(point) in (-signal.SIGKILL, 0)
    if (place / "out").exists():  # it came to its end
        check(place / "out")
        return
    draft = place / ".out.partial"
    state = draft / "state.json"
    rows = json.loads(state.read_text())["rows"] if state.exists() else []
    before = [(draft / f"vectors-{i:05}.npz").read_bytes() for i in range(len(rows))]
    assert syntf(monkeypatch, "--resume", "--quiet") == 0
    assert check(place / "out") == list(range(COUNT))
    for i, raw in enumerate(before):
        (place / "old.npz").write_bytes(raw)
        after = load_npz(place / "out" / f"vectors-{i:05}.npz")
        assert (load_npz(place / "old.npz") != after).nnz == 0
    (place / "old.npz").unlink(missing_ok=True)
    assert sorted(os.listdir(place)) == ["out", "terms.txt", "texts.csv"]


def test_a_killed_shuffle_is_resumed(place, small, monkeypatch):
    assert killed_at(120, "--shuffle") == -signal.SIGKILL
    assert not (place / "out").exists()
    assert syntf(monkeypatch, "--shuffle", "--resume") == 0
    assert check(place / "out") != list(range(COUNT))


def test_a_draft_worth_resuming_is_not_discarded(place, small, monkeypatch, capsys):
    assert killed_at(30) == -signal.SIGKILL
    assert syntf(monkeypatch) == 2
    assert "--resume" in capsys.readouterr().err
    assert (place / ".out.partial" / "state.json").exists()
    assert syntf(monkeypatch, "--force") == 0
    check(place / "out")


def test_a_small_draft_is_started_over(place, small, monkeypatch):
    assert killed_at(3) == -signal.SIGKILL
    assert (place / ".out.partial").exists()
    assert syntf(monkeypatch) == 0
    check(place / "out")


@pytest.mark.parametrize("change", [["--length", "13"], ["--epsilon", "59"], ["--keep", "n"]])
def test_a_draft_cannot_be_resumed_with_other_options(place, small, monkeypatch, capsys, change):
    assert killed_at(30) == -signal.SIGKILL
    arguments = [a for a in ARGUMENTS if a != "word"] if change[0] == "--keep" else ARGUMENTS
    more = [] if change[0] == "--keep" else change
    assert syntf(monkeypatch, *more, "--resume", arguments=arguments) == 2
    assert "another input or other options" in capsys.readouterr().err


def test_a_draft_cannot_be_resumed_with_another_input(place, small, monkeypatch, capsys):
    assert killed_at(30) == -signal.SIGKILL
    with (place / "texts.csv").open("a") as file:
        file.write("999,cat,cat\n")
    assert syntf(monkeypatch, "--resume") == 2
    assert "another input" in capsys.readouterr().err


def test_a_seeded_run_cannot_be_resumed(place, monkeypatch, capsys):
    assert syntf(monkeypatch, "--resume", "--insecure-seed", "1") == 2
    assert "seeded" in capsys.readouterr().err


@pytest.mark.skipif(drafts.fcntl is None, reason="needs file locks (POSIX)")
def test_two_runs_cannot_write_to_the_same_target(place, small):
    with (
        drafts.Draft(place / "out"),
        pytest.raises(drafts.SyntfError, match="another run is writing"),
    ):
        drafts.Draft(place / "out")
    assert not (place / ".out.partial").exists()


def test_a_broken_row_at_the_end_of_a_file_prevents_the_release(place, small, monkeypatch, capsys):
    with (place / "texts.csv").open("a") as file:
        file.write("999,cat\n")
    assert syntf(monkeypatch) == 2
    assert "line 232 has too few fields" in capsys.readouterr().err
    assert not (place / "out").exists()
    assert syntf(monkeypatch, "--force", "--bad-rows", "skip") == 0
    assert "1 broken row was left out" in capsys.readouterr().err
    check(place / "out")


def test_a_vocabulary_is_fitted_over_all_batches(place, small, monkeypatch):
    arguments = ["anonymize", "texts.csv", "--fit-vocabulary", "--weights", "tfidf", "--idf",
                 "fitted", "--length", "12", "--keep", "n", "word", "--out", "out"]  # fmt: skip
    assert syntf(monkeypatch, arguments=arguments) == 0
    assert (place / "out" / "vocabulary.txt").read_text().split() == sorted(TERMS)
    assert len(released(place / "out")[1]) == COUNT


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_the_message_of_a_late_interrupt_mentions_resume(
    place, small, monkeypatch, capsys, failure
):
    def fail(*arguments):
        raise failure

    monkeypatch.setattr(folder, "render_readme", fail)
    assert syntf(monkeypatch) in (2, 130)
    told = capsys.readouterr().err.strip()
    assert told.endswith("no release was written; 230 documents are done: add --resume to go on")
    assert len(told.splitlines()) == 1


def test_an_interrupted_run_that_cannot_be_resumed_leaves_no_draft(
    place, small, monkeypatch, capsys
):
    def fail(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(folder, "render_readme", fail)
    assert syntf(monkeypatch, "--insecure-seed", "1") == 130
    told = capsys.readouterr().err.strip()
    assert told.endswith("no release was written")
    assert not (place / ".out.partial").exists()


@pytest.mark.parametrize(("first", "then"), [("npz", "npz"), ("text", "npz"), ("npz", "text")])
def test_a_draft_can_be_resumed_with_another_format(place, small, monkeypatch, first, then):
    """What a draft holds of one format is not released as it is in another."""
    with monkeypatch.context() as late:
        late.setattr(folder, "render_readme", lambda *_: 1 / 0)
        assert syntf(monkeypatch, "--format", first) == 70
    assert syntf(monkeypatch, "--format", then, "--resume", "--quiet") == 0
    assert syntf(monkeypatch, arguments=["verify", "out"]) == 0
    if then == "npz":
        check(place / "out")
        for path in (place / "out").glob("vectors-*.npz"):
            assert (load_npz(path).data.dtype, load_npz(path).indices.dtype) == (np.int32, np.int32)


def test_batches_end_by_bytes_and_shards_by_documents(place, monkeypatch):
    """Batches of whatever size: shards of the same, each document drawn for once, in order."""
    drawn = []
    draw = Anonymizer.draw_rows

    def counted(self, documents, **more):
        drawn.append(len(documents))
        return draw(self, documents, **more)

    monkeypatch.setattr(Anonymizer, "draw_rows", counted)
    monkeypatch.setattr(corpus, "SIZE", 150)
    monkeypatch.setattr(csv_rows, "BLOCK", 64)
    monkeypatch.setattr(drafts, "SHARD", 50)
    monkeypatch.setattr(NeighbourhoodMechanism, "batch_draws", 30 * 12)
    heights = [frame.height for frame in corpus.Corpus(["texts.csv"], "text")]
    assert len(set(heights)) > 1
    assert max(heights) < 30
    assert syntf(monkeypatch) == 0
    rows = [load_npz(place / "out" / f"vectors-0000{i}.npz").shape[0] for i in range(5)]
    assert rows == [50, 50, 50, 50, 30]
    assert check(place / "out") == list(range(COUNT))
    assert sum(drawn) == COUNT
    assert max(drawn) <= 30
    assert len(drawn) < len(heights)


def test_the_first_batch_is_read_once(place, small, monkeypatch):
    """What was read to see whether a file can be is what is drawn for."""
    monkeypatch.setattr(corpus, "FIRST_ROWS", 20)
    passes = []
    read = corpus.Corpus._rows

    def counted(self):
        passes.append(self)
        return read(self)

    monkeypatch.setattr(corpus.Corpus, "_rows", counted)
    assert syntf(monkeypatch) == 0
    assert len(passes) == 1
    assert check(place / "out") == list(range(COUNT))


@pytest.mark.parametrize("size", [1 << 23, 1 << 9])
def test_the_number_of_draws_at_once_is_limited_for_all_texts(place, small, monkeypatch, size):
    """Batches end by bytes as well: a limit that only full ones meet would tell of the texts."""
    drawn, sample = [], NeighbourhoodMechanism.sample

    def noted(self, rows, **options):
        drawn.append(rows.size)
        return sample(self, rows, **options)

    monkeypatch.setattr(NeighbourhoodMechanism, "sample", noted)
    monkeypatch.setattr(NeighbourhoodMechanism, "batch_draws", 90)  # seven documents and a half
    monkeypatch.setattr(corpus, "SIZE", size)
    assert syntf(monkeypatch) == 0
    assert max(drawn) <= 90
    check(place / "out")
