import io
import warnings
from functools import cache as remember

import numpy as np
import platformdirs
import pytest

from syntf import SynTF, arithmetic, cache
from syntf import mechanism as mechanisms
from syntf.errors import TableError
from syntf.mechanism import ExponentialMechanism, Extremes, table_key
from syntf.rating import ArrayRating
from syntf.vectors import WordVectors

EPSILON = 3.0


@pytest.fixture(autouse=True)
def _one_table_of_exponentials(monkeypatch):
    """The same table, made once: what is tried here hundreds of times is the measuring."""
    monkeypatch.setattr(mechanisms, "exponential_table", remember(arithmetic.exponential_table))


@pytest.fixture
def rating():
    return ArrayRating(np.random.default_rng(7).random((6, 5)))


@pytest.fixture
def entry(empty_cache, rating):
    """The file of a table measured once."""
    cache.mechanism(rating, EPSILON)
    path = empty_cache / f"{table_key(rating, EPSILON)}.npz"
    assert list(empty_cache.iterdir()) == [path]
    return path


def measured(rating, epsilon=EPSILON):
    """The mechanism, and whether its table was measured for it."""
    told = []
    made = cache.mechanism(rating, epsilon, told.append)
    assert sum(told) in (0, rating.shape[0])
    return made, bool(told)


def same(a, b):
    return all((x == y).all() for x, y in zip(vars(a).values(), vars(b).values(), strict=True))


def test_a_table_is_measured_once(empty_cache, rating):
    first, new = measured(rating)
    assert new
    again, new = measured(rating)
    assert not new
    assert same(first.extremes, again.extremes)
    assert (first.loss, first.digest) == (again.loss, again.digest)


def test_what_is_remembered_is_what_would_be_measured(entry, rating):
    made, _ = measured(rating)
    fresh = ExponentialMechanism(rating, epsilon=EPSILON)
    assert same(made.extremes, fresh.extremes)
    assert made.digest == fresh.digest
    assert (made.sample(np.arange(6)) < 5).all()


def test_another_epsilon_or_rating_is_measured_for_itself(entry, rating):
    other = ArrayRating(np.random.default_rng(8).random((6, 5)))
    assert measured(rating, np.nextafter(EPSILON, 9))[1]
    assert measured(other)[1]
    assert not measured(rating)[1]


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip file", bytes(5000)])
def test_a_file_that_is_something_else_is_measured_anew_and_mended(entry, rating, content):
    entry.write_bytes(content)
    assert measured(rating)[1]
    assert not measured(rating)[1]


def test_an_array_where_an_archive_was_is_measured_anew(entry, rating):
    file = io.BytesIO()
    np.save(file, np.arange(5))
    entry.write_bytes(file.getvalue())
    assert measured(rating)[1]


def test_a_file_cut_short_anywhere_is_measured_anew(entry, rating):
    raw = entry.read_bytes()
    for size in range(0, len(raw), 7):
        entry.write_bytes(raw[:size])
        assert measured(rating)[1]


@pytest.mark.parametrize("flip", [0x01, 0x40, 0xFF])
def test_a_file_with_any_one_byte_damaged_is_measured_anew_or_still_right(entry, rating, flip):
    fresh = ExponentialMechanism(rating, epsilon=EPSILON)
    raw = entry.read_bytes()
    raised = []
    for place in range(len(raw)):
        entry.write_bytes(raw[:place] + bytes([raw[place] ^ flip]) + raw[place + 1 :])
        try:
            with warnings.catch_warnings(action="ignore"):
                made = cache.mechanism(rating, EPSILON)
        except Exception as error:
            raised.append((place, repr(error)))
        else:
            assert same(made.extremes, fresh.extremes)
    assert raised == []


def without(arrays, name):
    return {key: value for key, value in arrays.items() if key != name}


@pytest.mark.parametrize("name", ["sums", "low", "high"])
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:-1],
        lambda a: np.append(a, 1),
        lambda a: a[:, None],
        lambda a: a.astype(np.float64),
        lambda a: a.astype(np.uint64),
        lambda a: a.astype(np.int32),
        lambda a: a.astype(">i8"),
        lambda a: a.astype(object),
        lambda a: np.array(5),
    ],
    ids=["short", "long", "2d", "float", "uint64", "int32", "big-endian", "object", "0d"],
)
def test_wrong_shapes_and_types_are_measured_anew(entry, rating, name, change):
    with np.load(entry) as stored:
        arrays = dict(stored)
    np.savez(entry, **{**arrays, name: change(arrays[name])})
    fresh = ExponentialMechanism(rating, epsilon=EPSILON)
    made, new = measured(rating)
    assert same(made.extremes, fresh.extremes)
    assert new
    np.savez(entry, **without(arrays, name))
    assert measured(rating)[1]


def tamper(entry, name, column, by):
    with np.load(entry) as stored:
        arrays = dict(stored)
    arrays[name][column] += by
    np.savez(entry, **arrays)


@pytest.mark.parametrize(("name", "by"), [("high", -1), ("low", 1), ("sums", 1), ("sums", -1)])
def test_extremes_that_are_narrower_than_the_table_make_sampling_fail(entry, rating, name, by):
    """Well-formed lies are found when the row that contradicts them is drawn from."""
    for column in range(5):
        honest = entry.read_bytes()
        tamper(entry, name, column, by)
        made, new = measured(rating)
        assert not new
        with pytest.raises(TableError, match="cache clear"):
            made.sample(np.arange(6))
        entry.write_bytes(honest)


def test_narrower_extremes_never_understate_the_loss_of_what_is_drawn(entry, rating):
    """A row that can still be drawn from keeps to the loss that the tampered table states."""
    tamper(entry, "high", 0, -(1 << 40))
    made, _ = measured(rating)
    rows = []
    for row in range(6):
        try:
            made.sample([row])
            rows.append(made.weights(row))
        except TableError:
            continue
    assert 0 < len(rows) < 6
    assert (np.max(rows, axis=0) <= made.extremes.high).all()
    assert (np.min(rows, axis=0) >= made.extremes.low).all()


def test_an_impossible_output_is_refused(rating):
    honest = ExponentialMechanism(rating, epsilon=EPSILON).extremes
    low = honest.low.copy()
    low[2] = 0
    with pytest.raises(TableError, match="below 1"):
        ExponentialMechanism(
            rating, epsilon=EPSILON, extremes=Extremes(honest.sums, low, honest.high)
        )


def test_a_cache_that_cannot_be_written_does_not_stop_a_run(tmp_path, monkeypatch, rating):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for place in (blocked, blocked / "below"):  # not even root can make a folder there
        monkeypatch.setenv("SYNTF_CACHE", str(place))
        made, new = measured(rating)
        assert new
        assert made.digest == ExponentialMechanism(rating, epsilon=EPSILON).digest
    assert blocked.read_text() == "in the way"


def test_a_write_that_fails_leaves_nothing_behind(empty_cache, rating):
    path = empty_cache / f"{table_key(rating, EPSILON)}.npz"
    path.mkdir(parents=True)  # what cannot be replaced by a file
    assert measured(rating)[1]
    assert list(empty_cache.iterdir()) == [path]


def test_clear_removes_its_own_entries_and_no_other_file(entry, empty_cache, rating):
    cache.mechanism(rating, 2 * EPSILON)
    others = ["notes.txt", "short.npz", f"{'0' * 64}.txt", f"{'0' * 63}.npz", f"{'0' * 65}.npz"]
    for name in others:
        (empty_cache / name).write_text("mine")
    (empty_cache / "sub").mkdir()
    (empty_cache / "sub" / entry.name).write_text("mine")
    assert cache.clear() == 2
    assert sorted(path.name for path in empty_cache.iterdir()) == sorted([*others, "sub"])
    assert (empty_cache / "sub" / entry.name).exists()
    assert cache.clear() == 0
    assert measured(rating)[1]


def test_clear_of_a_cache_that_was_never_used(empty_cache):
    assert cache.clear() == 0


def test_the_folder_is_that_of_the_variable_or_of_the_system(monkeypatch, tmp_path):
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path))
    assert cache.folder() == tmp_path
    for forget in (
        lambda: monkeypatch.setenv("SYNTF_CACHE", ""),
        lambda: monkeypatch.delenv("SYNTF_CACHE"),
    ):
        forget()
        assert cache.folder() == platformdirs.user_cache_path("syntf")


def test_no_word_of_a_text_is_kept(empty_cache, toy_vectors):
    canary = "zanzibarcanary"
    matrix = np.vstack([toy_vectors.matrix, np.full((1, 8), 127, dtype=np.int8)])
    vectors = WordVectors([*toy_vectors.words, canary], matrix)
    texts = [f"The {canary} sings to the cat", f"{canary} dog cat", "dog"]
    synthetic = SynTF(vectors=vectors, fit_vocabulary=True, length=5).fit(texts)
    synthetic.transform(texts)
    assert canary in synthetic.get_feature_names_out()
    files = [path for path in empty_cache.rglob("*") if path.is_file()]
    assert files
    for path in files:
        for word in (canary, "cat", "sings"):
            assert word not in path.name
        for form in (canary.encode(), canary.encode("utf-16-le"), canary.encode("utf-32-le")):
            assert form not in path.read_bytes()
    with np.load(files[0]) as stored:  # stored, not packed: the bytes looked at are all there is
        assert sorted(stored) == ["high", "low", "sums"]
