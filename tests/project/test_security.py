"""Tests of security: hostile files do no harm, and texts leave no trace outside the release.

A canary is a word that occurs only in the texts. After a run, everything that the process wrote is
searched for it: its folder, its home, its cache, its temporary files and its output.
"""

import ast
import csv
import gzip
import hashlib
import io
import os
import pickle
import subprocess
import sys
import tarfile
import zipfile
from contextlib import suppress
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

import syntf
from syntf.cli.app import main
from syntf.core import csv_files, tables
from syntf.core.counts import Rows
from syntf.core.errors import SyntfError
from syntf.evaluation.experiment import results, run_log
from syntf.inputs import columns
from syntf.inputs import corpus as corpora
from syntf.releases import draft as drafts
from syntf.releases.contents import writers
from syntf.vectors.word_vectors import WordVectors, read_cached
from syntf.vocabulary.vocabulary import Vocabulary

CANARY = "zqxcanaryjv"
WORDS = ["cat", "dog", "car", "train", "music", "river"]
SOURCES = sorted(Path(syntf.__file__).parent.rglob("*.py"))


class Trap:
    """An object whose pickle creates a file when it is loaded."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return open, (str(self.mark), "w")


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "executed"


@pytest.fixture
def trap(mark):
    raw = pickle.dumps(Trap(mark))
    pickle.loads(raw).close()  # noqa: S301
    assert mark.exists()  # the trap works
    mark.unlink()
    return raw


def object_array(mark):
    file = io.BytesIO()
    np.save(file, np.array([Trap(mark)], dtype=object))
    return file.getvalue()


def archive(members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, raw in members.items():
            made.writestr(name, raw)
    return file.getvalue()


NAMES = ["x.csv", "x.tsv", "x.jsonl", "x.parquet", "x.mbox", "x.csv.gz", "x.jsonl.bz2", "x.tsv.xz"]


@pytest.mark.parametrize("name", NAMES)
def test_no_pickle_is_loaded_as_texts(tmp_path, trap, mark, name):
    for raw in (trap, gzip.compress(trap), object_array(mark)):
        (tmp_path / name).write_bytes(raw)
        with suppress(SyntfError):
            list(corpora.Corpus([tmp_path / name], "text"))
        assert not mark.exists()


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.npz", "v.npy", "v.model", "v.kv", "v.pkl"])
def test_no_pickle_is_loaded_as_vectors_or_vocabulary(tmp_path, trap, mark, name):
    rows = np.ones((1, 2))
    numbers = io.BytesIO()
    np.save(numbers, rows)
    path = tmp_path / name
    forms = [trap, gzip.compress(trap), object_array(mark)]
    forms.append(archive({"words.npy": object_array(mark), "vectors.npy": numbers.getvalue()}))
    forms.append(archive({"words.npy": trap, "vectors.npy": object_array(mark)}))
    for raw in forms:
        path.write_bytes(raw)
        with pytest.raises(SyntfError):
            WordVectors.read(path)
        with pytest.raises(SyntfError):
            Vocabulary.read(path, WordVectors.quantize(["cat"], rows))
        assert not mark.exists()


def test_no_pickle_is_loaded_from_the_cache(tmp_path, trap, mark, empty_cache):
    """Try a pickle in place of a cache entry, and inside an entry with a valid checksum."""
    (tmp_path / "v.txt").write_text("cat 1 2\ndog 2 1\n")
    read_cached(tmp_path / "v.txt")
    (entry,) = empty_cache.glob("*.vectors")
    for raw in (trap, object_array(mark)):
        for forged in (raw, hashlib.sha256(raw).digest() + raw):
            entry.write_bytes(forged)
            assert list(read_cached(tmp_path / "v.txt").words) == ["cat", "dog"]
            assert not mark.exists()


def test_no_pickle_is_loaded_from_a_draft(tmp_path, trap, mark):
    """Try an attacker who can write to the folder and knows its key and its digests."""
    draft = tmp_path / ".out.partial"
    planted = archive({f"{name}.npy": object_array(mark) for name in
                       ("format", "shape", "data", "indices", "indptr")})  # fmt: skip
    for vectors, packed in product((trap, planted, object_array(mark)), ("false", "true")):
        draft.mkdir()
        (draft / "vectors-00000.npz").write_bytes(vectors)
        (draft / "documents-00000.parquet").write_bytes(b"PAR1")
        digest = drafts.shard_digest(vectors, b"PAR1")
        state = f'{{"key": "", "packed": {packed}, "rows": [70000], "digests": ["{digest}"]}}'
        (draft / "state.json").write_text(state)
        with drafts.Draft(tmp_path / "out", resume=True) as opened:
            assert opened.documents == 70000
            opened._new_release.mkdir()
            for take in (
                partial(opened.read_shard, 0),
                partial(opened._copy_shard, 0, ""),
            ):
                with pytest.raises(Exception, match=r".") as refused:
                    take()
                assert not isinstance(refused.value, AssertionError)
        assert not mark.exists()
        opened.discard()


def test_no_pickle_is_loaded_from_results(tmp_path, trap, mark):
    for raw in (trap, object_array(mark)):
        (tmp_path / "runs.jsonl").write_bytes(raw + b"\n")
        with pytest.raises(SyntfError):
            run_log.RunLog(tmp_path / "runs.jsonl", "x")
        (tmp_path / "results.csv").write_bytes(raw)
        with pytest.raises(SyntfError):
            results.read_results(tmp_path / "results.csv")
        assert not mark.exists()


TEMPLATE_CODE = {("page.py", "compile")}
"""Code of templates that is part of the package; a test compares it with the templates."""


def test_no_module_unpickles_or_executes_data():
    """No module names what could: pickle, marshal, shelve, eval, exec, a shell, an unsafe load."""
    banned = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib.load"}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                assert not banned & {alias.name for alias in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                assert not banned & {node.module, *names}, path
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                executes = called in {"eval", "exec", "compile", "os.system", "joblib.load"}
                assert not executes or (path.name, called) in TEMPLATE_CODE, path
                named = {word.arg: ast.unparse(word.value) for word in node.keywords}
                assert named.get("shell", "False") == "False", path
                assert named.get("allow_pickle", "False") == "False", path
                assert not called.endswith((".extractall", ".extract", ".unpack_archive")), path


@pytest.mark.parametrize("name", ["../evil", "{outside}", "wordnet/../../evil", "words.npy"])
def test_reading_an_archive_writes_nothing(tmp_path, name):
    """Zip files are read in memory; tar files not at all."""
    name = name.format(outside=tmp_path / "evil")
    inside = tmp_path / "inside"
    inside.mkdir()
    before = {path for path in tmp_path.rglob("*")}
    (inside / "v.npz").write_bytes(archive({name: b"x", "vectors.npy": b"y"}))
    with tarfile.open(inside / "v.tar.gz", "w:gz") as made:
        link = tarfile.TarInfo(name.lstrip("/"))
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        made.addfile(link)
    for path in inside.iterdir():
        with pytest.raises(SyntfError):
            WordVectors.read(path)
    after = {path for path in tmp_path.rglob("*")}
    assert after - before == {inside / "v.npz", inside / "v.tar.gz"}


def test_reading_a_parquet_file_opens_and_writes_no_other_file(tmp_path, monkeypatch):
    """Neither a name that is a pattern, nor columns named like paths, reach beyond the file."""
    monkeypatch.chdir(tmp_path)
    secret = pl.DataFrame({"text": ["secret"], "../../evil": ["x"]})
    secret.write_parquet("a.parquet")
    pl.DataFrame({"text": ["own"], "../../evil": ["=cmd()"]}).write_parquet("[a].parquet")
    frame = corpora.read(Path("[a].parquet"))
    assert frame["text"].to_list() == ["own"]
    counts = csr_matrix(np.ones((1, 1), dtype=np.int32))
    with drafts.Draft(tmp_path / "out") as draft:
        draft.add(counts, tables.from_polars(frame.drop("text")))
    assert sorted(os.listdir(tmp_path)) == ["[a].parquet", "a.parquet"]
    assert not (tmp_path.parent / "evil").exists()


def test_symbolic_link_in_place_of_the_draft_is_not_followed(tmp_path):
    """Whoever may write beside the target could point the draft at a folder to be cleared."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work")
    (tmp_path / ".out.partial").symlink_to(precious)
    with pytest.raises(SyntfError, match="is a symbolic link"):
        drafts.Draft(tmp_path / "out")
    assert os.listdir(precious) == ["thesis.txt"]


FORMULAS = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_in_results_are_escaped(tmp_path, formula):
    """No cell of a CSV file begins as a formula, whatever words it comes from."""
    score = {"method": "syntf", "task": "utility", "model": "nb", "attacker": formula,
             "scenario": formula, "tagger": formula, "run": 0}  # fmt: skip
    one = results.RunScore(**score, f1=0.5, precision=0.5, recall=0.5)
    results.write_results(tmp_path / "results.csv", results.average_runs([one]))
    csv_files.write_table(tmp_path / "table.csv", [formula, "n"], [[formula, -1.5], [None, True]])
    for name in ("results.csv", "table.csv"):
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert "'" + formula.replace("\r", " ") in cells
        assert all(cell[:1] not in "=+@\t\r＝＋－＠" or not cell for cell in cells)
        assert all(_is_number(cell) for cell in cells if cell.startswith("-"))
    assert results.read_results(tmp_path / "results.csv")[0].scenario == formula.replace("\r", " ")


def _is_number(cell):
    try:
        return bool(float(cell) or True)
    except ValueError:
        return False


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_release_for_a_spreadsheet_holds_no_formula(formula, tmp_path):
    """Kept columns and words of a vocabulary are escaped; numbers stay numbers."""
    counts = Rows(np.array([1, 2]), np.array([0, 1]), np.array([0, 2]), (1, 2))
    with (tmp_path / "vectors.csv").open("wb") as file:
        writers.csv(file, counts, [formula.strip(), "cat"], 0)
    kept = {formula: [formula, None], "number": ["-1.5", "+7"], "list": [[formula], ["a", "b"]]}
    (tmp_path / "documents.csv").write_bytes(
        writers.documents_csv(tables.from_polars(pl.DataFrame(kept)))
    )
    for name in ("vectors.csv", "documents.csv"):
        with (tmp_path / name).open(encoding="utf-8-sig", newline="") as file:
            cells = [cell for line in csv.reader(file) for cell in line]
        assert all(cell[:1] not in "=@\t\r＝＋－＠" or not cell for cell in cells)
        assert all(_is_number(cell) for cell in cells if cell.startswith(("-", "+")))
    assert {"-1.5", "+7", "a b"} <= set(cells)


def test_every_csv_file_is_written_with_escaped_cells():
    """No other module asks for a writer of CSV, except the audit, for the texts it tries."""
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        if path.parts[-2:] not in (("core", "csv_files.py"), ("audit", "release.py")):
            assert "csv.writer" not in text, path
            assert "DictWriter" not in text, path
            assert "write_csv" not in text, path


# Texts are left nowhere.


@pytest.fixture
def world(tmp_path):
    """A home, a cache, a folder for temporary files and one to work in, all of them searched."""
    places = {"HOME": "home", "TMPDIR": "tmp", "SYNTF_CACHE": "cache", "XDG_CACHE_HOME": "xdg",
              "JOBLIB_TEMP_FOLDER": "tmp", "MPLCONFIGDIR": "mpl"}  # fmt: skip
    for name in {*places.values(), "work", "inputs"}:
        (tmp_path / name).mkdir()
    inputs = tmp_path / "inputs"
    numbers = [[(7 * i * j + i + j) % 11 - 5 for j in range(4)] for i in range(1, 7)]
    lines = (f"{w} {' '.join(map(str, n))}\n" for w, n in zip(WORDS, numbers, strict=True))
    (inputs / "vectors.txt").write_text("".join(lines))
    (inputs / "terms.txt").write_text("\n".join(WORDS))
    return {name: str(tmp_path / place) for name, place in places.items()}


def traces(tmp_path, *said):
    """Where the canary is found beyond the inputs."""
    found = [f"printed: {text[:500]}" for text in said if CANARY in text.lower()]
    for path in tmp_path.rglob("*"):
        if "inputs" in path.parts:
            continue
        if CANARY in path.name.lower():
            found.append(str(path))
        if path.is_file():
            raw = path.read_bytes()
            forms = [raw, *_unpacked(raw)]
            if any(
                CANARY.encode(c) in form.lower() for form in forms for c in ("utf-8", "utf-16-le")
            ):
                found.append(str(path))
    return found


def _unpacked(raw):
    if raw[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(raw)) as made:
            return [made.read(name) for name in made.namelist()]
    if raw[:4] == b"PAR1":
        return [str(pl.read_parquet(raw).rows()).encode()]
    return [gzip.decompress(raw)] if raw[:2] == b"\x1f\x8b" else []


def run(tmp_path, world, *arguments, stdin=b""):
    command = [sys.executable, "-m", "syntf", *map(str, arguments)]
    made = subprocess.run(
        command, cwd=tmp_path / "work", env={**os.environ, **world}, capture_output=True,
        input=stdin,
    )  # fmt: skip
    out, error = made.stdout.decode("utf-8", "replace"), made.stderr.decode("utf-8", "replace")
    assert "Traceback" not in error, error
    assert not traces(tmp_path, out, error)
    return made.returncode, error


def inside(tmp_path, world, monkeypatch, capfd, *arguments):
    """Run a command in this process, which is faster, and search for the canary."""
    for name, value in world.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(sys, "argv", ["syntf", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    out, error = capfd.readouterr()
    assert not traces(tmp_path, out, error)
    return end.value.code, error


PUBLIC = ["--vectors", "../inputs/vectors.txt", "--vocabulary", "../inputs/terms.txt",
          "--morphology", "lower", "--preset", "paper"]  # fmt: skip
SENTENCE = f"The cat met {CANARY} and a dog, {CANARY.upper()}s!"


def corpus(tmp_path, count=60):
    path = tmp_path / "inputs" / "texts.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["text", "topic", "author"])
        for i in range(count):
            lines.writerow([f"{SENTENCE} {WORDS[i % 6]} {WORDS[i % 2]}", "ab"[i % 2], "xyz"[i % 3]])
    return path


def test_search_finds_the_canary_everywhere(tmp_path):
    """The search looks into files, file names, archives and columns."""
    pl.DataFrame({"x": [SENTENCE]}).write_parquet(tmp_path / "a.parquet")
    np.savez_compressed(tmp_path / "b.npz", x=np.array([SENTENCE]).astype("S"))
    (tmp_path / "c").write_bytes(gzip.compress(SENTENCE.encode()))
    (tmp_path / f"d{CANARY}").touch()
    (tmp_path / "e").write_text("nothing")
    assert len(traces(tmp_path, SENTENCE, "nothing")) == 5


@pytest.mark.parametrize(
    "more", [[], ["--fit-vocabulary"], ["--weights", "tfidf", "--idf", "fitted"]]
)
def test_a_release_leaves_no_text_behind(tmp_path, world, monkeypatch, capfd, more):
    public = PUBLIC if more != ["--fit-vocabulary"] else [*PUBLIC[:2], *PUBLIC[4:]]
    for form in ("npz", "jsonl", "text") if not more else ("npz",):
        code, _ = inside(
            tmp_path, world, monkeypatch, capfd, "anonymize", corpus(tmp_path), *public, *more,
            "--keep", "topic", "--format", form, "--force", "--out", "release",
        )  # fmt: skip
        assert code == 0


@pytest.mark.slow
def test_every_other_command_leaves_no_text_behind(tmp_path, world):
    """Run coverage, vocabulary and evaluate, each in its own process."""
    path = corpus(tmp_path)
    own = ["--vectors", "../inputs/vectors.txt", "--morphology", "lower"]
    labels = ["--label", "topic", "--author", "author", "--min-test", "3", "--tagger", "pattern"]
    assert run(tmp_path, world, "coverage", path, *PUBLIC)[0] == 0
    assert run(tmp_path, world, "vocabulary", "build", path, *own, "--out", "terms.txt")[0] == 0
    pytest.importorskip("joblib")
    pytest.importorskip("textblob")
    code, error = run(
        tmp_path, world, "evaluate", path, *labels, *PUBLIC, "--runs", "2", "--length", "5",
        "--out", "proof",
    )  # fmt: skip
    assert code == 0, error


@pytest.mark.slow
def test_tuning_leaves_no_text_behind(tmp_path, world):
    pytest.importorskip("joblib")
    code, error = run(
        tmp_path, world, "tune", corpus(tmp_path), "--label", "topic", "--unit", "words",
        "--max-loss", "101", "--runs", "1", *PUBLIC[:-2], "--out", "tuned",
    )  # fmt: skip
    assert code == 0, error


def test_internal_error_leaves_no_text_behind(tmp_path, world, monkeypatch, capfd):
    """A fault of the program itself, whose error quotes a text, is reported without the text.

    The function at fault is named by its place in the package, even if other files on the way lie
    in a folder called syntf, as in a clone of that name.
    """
    code = "def broken(frame, column):\n    raise KeyError(frame[column][0])\n"
    names = {}
    exec(compile(code, "/clones/syntf/tests/elsewhere.py", "exec"), names)
    monkeypatch.setattr(columns, "texts", names["broken"])
    code, error = inside(
        tmp_path, world, monkeypatch, capfd, "anonymize", corpus(tmp_path), *PUBLIC, "--out", "r"
    )
    assert code == 70
    assert "a bug in syntf (KeyError in corpus.py, read_first_texts)" in error
    assert "no release was written" in error


BROKEN = {
    "quote.csv": f'text,n\n"{SENTENCE},1\n',
    "fields.csv": f"text,n\n{CANARY},1,2,3\n",
    "few.tsv": f"text\tn\n{CANARY}\n",
    "late.csv": f'text,n\n{CANARY},1\na "{CANARY}" b,"x"y\n',
    "column.csv": f"body,n\n{SENTENCE},1\n",
    "headless.csv": f'1,"{SENTENCE}"\n2,"more of it"\n',
    "twice.csv": f"{CANARY},{CANARY}\n1,2\n",
    "json.jsonl": f'{{"text": "{CANARY}"\n',
    "list.jsonl": f'["{CANARY}"]\n',
    "types.jsonl": f'{{"text": ["{CANARY}"]}}\n',
    "struct.jsonl": f'{{"text": {{"{CANARY}": "{CANARY}"}}}}\n',
    "deep.jsonl": f'{{"text": {"[" * 3000}"{CANARY}"\n',
    "parquet.parquet": f"PAR1 {SENTENCE} PAR1",
    "empty.mbox": f"{SENTENCE}\n",
    "gzip.csv.gz": SENTENCE,
    "xz.jsonl.xz": SENTENCE,
    "unknown.docx": SENTENCE,
}


@pytest.mark.parametrize("name", BROKEN)
def test_refused_file_is_not_quoted(tmp_path, world, monkeypatch, capfd, name):
    path = tmp_path / "inputs" / name
    path.write_text(BROKEN[name])
    for command in (["anonymize", path, "--out", "r", *PUBLIC], ["coverage", path, *PUBLIC]):
        code, error = inside(tmp_path, world, monkeypatch, capfd, *command)
        assert code == 2
        assert len(error.strip().splitlines()) == 1
    assert not os.listdir(tmp_path / "work")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-7", "unicode_escape", "idna", "shift_jis"])
def test_wrong_encoding_quotes_no_text(tmp_path, world, monkeypatch, capfd, encoding):
    path = tmp_path / "inputs" / "texts.csv"
    path.write_bytes(f"text,n\n{SENTENCE} é,1\n".encode("latin-1"))
    command = ["anonymize", path, "--encoding", encoding, "--out", "r", *PUBLIC]
    inside(tmp_path, world, monkeypatch, capfd, *command)


@pytest.mark.parametrize("option", ["--keep", "--id", "--text"])
def test_missing_column_is_reported_without_a_text(tmp_path, world, monkeypatch, capfd, option):
    command = ["anonymize", corpus(tmp_path), option, "missing", "--out", "r", *PUBLIC]
    code, error = inside(tmp_path, world, monkeypatch, capfd, *command)
    assert code == 2
    assert "no column 'missing'; the columns are: text, topic, author" in error


def test_message_contains_no_control_characters(tmp_path, world, monkeypatch, capfd):
    path = tmp_path / "inputs" / "x.csv"
    path.write_text("a\x1b]0;owned\x07b,n\n1,2\n")
    code, error = inside(tmp_path, world, monkeypatch, capfd, "coverage", path, *PUBLIC)
    assert code == 2
    assert error.strip().isprintable()
    vocabulary = tmp_path / "inputs" / "evil.txt"
    vocabulary.write_text("# syntf vocabulary\n# source: \x1b[2J\x07\n\ncat\n")
    monkeypatch.setattr(sys, "argv", ["syntf", "vocabulary", "show", str(vocabulary)])
    with pytest.raises(SystemExit):
        main()
    assert "\x1b" not in capfd.readouterr().out
