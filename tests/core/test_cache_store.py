from fractions import Fraction
from functools import cache as remember
from hashlib import sha256

import numpy as np
import platformdirs
import pytest

from syntf import SynTF
from syntf.core import cache_store, exact
from syntf.core.errors import TableError
from syntf.mechanism import exponential as mechanisms
from syntf.mechanism.build import cached_exponential, cached_neighbours
from syntf.mechanism.exponential import ExponentialMechanism, Extremes, table_key
from syntf.mechanism.nearest import nearest
from syntf.mechanism.neighbourhood import NeighbourhoodMechanism
from syntf.mechanism.rating import ArrayRating
from syntf.vectors.word_vectors import WordVectors

EPSILON = 3.0
NAMES = ("sums", "low", "high")


@pytest.fixture(autouse=True)
def _one_table_of_exponentials(monkeypatch):
    """The same table, made once: what is tried here hundreds of times is the measuring."""
    monkeypatch.setattr(mechanisms, "exponential_table", remember(exact.exponential_table))


@pytest.fixture
def rating():
    return ArrayRating(np.random.default_rng(7).random((6, 5)))


@pytest.fixture
def entry(empty_cache, rating):
    """The file of a table measured once."""
    cached_exponential(rating, EPSILON)
    (path,) = empty_cache.iterdir()
    assert path.stem == table_key(rating, EPSILON)
    return path


def measured(rating, epsilon=EPSILON):
    """The mechanism, and whether its table was measured for it."""
    told = []
    made = cached_exponential(rating, epsilon, told.append)
    assert sum(told) in (0, rating.shape[0])
    return made, bool(told)


def same(a, b):
    return all((x == y).all() for x, y in zip(vars(a).values(), vars(b).values(), strict=True))


def stored(entry):
    """The arrays in the file of the 6 × 5 table."""
    numbers = np.frombuffer(entry.read_bytes()[32:], dtype="<i8").copy()
    return dict(zip(NAMES, np.split(numbers, [6, 11]), strict=True))


def store(entry, arrays):
    """A file whose checksum is right, whatever is in it."""
    numbers = b"".join(array.tobytes() for array in arrays.values())
    entry.write_bytes(sha256(numbers).digest() + numbers)


def test_a_table_is_measured_once(empty_cache, rating):
    first, new = measured(rating)
    assert new
    again, new = measured(rating)
    assert not new
    assert same(first.extremes, again.extremes)
    assert (first.loss, first.digest) == (again.loss, again.digest)


def test_cached_extremes_equal_measured_ones(entry, rating):
    made, _ = measured(rating)
    fresh = ExponentialMechanism(rating, epsilon=EPSILON)
    assert same(made.extremes, fresh.extremes)
    assert made.digest == fresh.digest
    assert (made.sample(np.arange(6)) < 5).all()


def test_another_epsilon_or_rating_has_its_own_entry(entry, rating):
    other = ArrayRating(np.random.default_rng(8).random((6, 5)))
    assert measured(rating, np.nextafter(EPSILON, 9))[1]
    assert measured(other)[1]
    assert not measured(rating)[1]


@pytest.mark.parametrize("content", [b"", b"not a table", bytes(160), bytes(5000)])
def test_an_unusable_entry_is_measured_again_and_replaced(entry, rating, content):
    entry.write_bytes(content)
    assert measured(rating)[1]
    assert not measured(rating)[1]


def test_an_entry_of_the_wrong_length_is_measured_again(entry, rating):
    raw = entry.read_bytes()
    for damaged in (*(raw[:size] for size in range(len(raw))), raw + bytes(8), raw * 2):
        entry.write_bytes(damaged)
        assert measured(rating)[1]


@pytest.mark.parametrize("flip", [0x01, 0xFF])
def test_an_entry_with_a_damaged_byte_is_measured_again(entry, rating, flip):
    raw = entry.read_bytes()
    for place in range(len(raw)):
        entry.write_bytes(raw[:place] + bytes([raw[place] ^ flip]) + raw[place + 1 :])
        assert measured(rating)[1]
        assert entry.read_bytes() == raw


def test_an_entry_is_a_checksum_and_numbers(entry, rating):
    honest = ExponentialMechanism(rating, epsilon=EPSILON).extremes
    assert same(Extremes(**stored(entry)), honest)
    raw = entry.read_bytes()
    store(entry, stored(entry))
    assert entry.read_bytes() == raw


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:-1],
        lambda a: np.append(a, 1),
        lambda a: np.stack([a, a]),
        lambda a: a[:0],
        lambda a: a.astype(np.int32),
    ],
    ids=["short", "long", "2d", "none", "int32"],
)
def test_entries_of_wrong_shapes_and_types_are_measured_again(entry, rating, name, change):
    arrays = stored(entry)
    store(entry, {**arrays, name: change(arrays[name])})
    assert measured(rating)[1]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.astype(np.float64),
        lambda a: a.astype(">i8"),
        lambda a: a[::-1],
        lambda a: a * 0,
        lambda a: -a,
        lambda a: a // 2,
    ],
    ids=["float", "big-endian", "reversed", "zeros", "negative", "halved"],
)
def test_forged_extremes_make_a_run_fail_or_the_loss_larger(entry, rating, name, change):
    arrays = stored(entry)
    store(entry, {**arrays, name: change(arrays[name])})
    honest = ExponentialMechanism(rating, epsilon=EPSILON).loss
    try:
        made, new = measured(rating)
        made.sample(np.arange(6))
    except TableError:
        return
    assert not new
    assert made.loss > honest


def tamper(entry, name, column, by):
    arrays = stored(entry)
    arrays[name][column] += by
    store(entry, arrays)


@pytest.mark.parametrize(("name", "by"), [("high", -1), ("low", 1), ("sums", 1), ("sums", -1)])
def test_extremes_that_are_narrower_than_the_table_make_sampling_fail(entry, rating, name, by):
    """Well-formed lies are found when the row that contradicts them is drawn from."""
    honest = entry.read_bytes()
    for column in range(5):
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


def test_an_impossible_output_is_refused(entry, rating):
    tamper(entry, "low", 2, -stored(entry)["low"][2])
    with pytest.raises(TableError, match="below 1"):
        measured(rating)


def test_a_cache_that_cannot_be_written_does_not_stop_a_run(tmp_path, monkeypatch, rating):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for place in (blocked, blocked / "below"):  # not even root can make a folder there
        monkeypatch.setenv("SYNTF_CACHE", str(place))
        made, new = measured(rating)
        assert new
        assert made.digest == ExponentialMechanism(rating, epsilon=EPSILON).digest
    assert blocked.read_text() == "in the way"


def test_a_write_that_fails_leaves_nothing_behind(entry, empty_cache, rating):
    entry.unlink()
    entry.mkdir()  # what no file can replace
    assert measured(rating)[1]
    assert list(empty_cache.iterdir()) == [entry]


@pytest.fixture
def neighbours(empty_cache, rating):
    """The file of neighbours found once."""
    cached_neighbours(rating, 2)
    (path,) = empty_cache.iterdir()
    return path


def found(rating, count=2):
    """The neighbours, and whether they were found for this."""
    told = []
    made = cached_neighbours(rating, count, told.append)
    assert sum(told) in (0, rating.shape[0])
    return made, bool(told)


def test_neighbours_are_computed_once_and_cached(empty_cache, rating):
    first, new = found(rating)
    assert new
    again, new = found(rating)
    assert not new
    assert (first.dtype, first.tolist()) == (again.dtype, again.tolist())
    assert first.tolist() == nearest(rating, 2).tolist()


def test_another_k_or_rating_has_its_own_neighbours(neighbours, rating):
    other = ArrayRating(np.random.default_rng(8).random((6, 5)))
    assert found(rating, 1)[1]
    assert found(rating, 4)[1]
    assert found(other)[1]
    assert found(ArrayRating(np.random.default_rng(9).random((12, 5))))[1]
    assert not found(rating)[1]


def test_damaged_neighbours_are_computed_again(neighbours, rating):
    raw = neighbours.read_bytes()
    assert len(raw) == 32 + 4 * 6 * 2
    flipped = [
        raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :] for place in range(len(raw))
    ]
    for damaged in (*(raw[:size] for size in range(len(raw))), *flipped, raw + bytes(4), b"x" * 80):
        neighbours.write_bytes(damaged)
        made, new = found(rating)
        assert new
        assert made.tolist() == nearest(rating, 2).tolist()
        assert neighbours.read_bytes() == raw


@pytest.mark.parametrize("forged", [[[1, 1]] * 6, [[0, 5]] * 6, [[-1, 0]] * 6, [[4, 2]] * 6])
def test_forged_neighbours_are_refused_or_their_own_loss_is_measured(neighbours, rating, forged):
    numbers = np.array(forged, dtype="<i4").tobytes()
    neighbours.write_bytes(sha256(numbers).digest() + numbers)
    made, new = found(rating)
    assert not new
    try:
        mechanism = NeighbourhoodMechanism(made, outputs=5, epsilon=EPSILON)
    except TableError:
        assert forged[0] != [4, 2]
    else:
        rows = [mechanism.weights(row).tolist() for row in range(7)]
        largest = max(Fraction(max(column), min(column)) for column in zip(*rows, strict=True))
        assert mechanism.ratio == largest


def test_clear_removes_its_own_entries_and_no_other_file(entry, empty_cache, rating):
    cached_neighbours(rating, 2)
    end = entry.suffix
    others = ["notes.txt", f"short{end}", f"{'0' * 64}.txt", f"{'0' * 63}{end}", f"{'0' * 65}{end}"]
    for name in others:
        (empty_cache / name).write_text("mine")
    (empty_cache / "sub").mkdir()
    (empty_cache / "sub" / entry.name).write_text("mine")
    assert cache_store.clear() == 2
    assert sorted(path.name for path in empty_cache.iterdir()) == sorted([*others, "sub"])
    assert (empty_cache / "sub" / entry.name).exists()
    assert cache_store.clear() == 0
    assert measured(rating)[1]


def test_clear_of_a_cache_that_was_never_used(empty_cache):
    assert cache_store.clear() == 0


def test_the_cache_folder_is_that_of_the_variable_or_of_the_system(monkeypatch, tmp_path):
    monkeypatch.setenv("SYNTF_CACHE", str(tmp_path))
    assert cache_store.folder() == tmp_path
    for forget in (
        lambda: monkeypatch.setenv("SYNTF_CACHE", ""),
        lambda: monkeypatch.delenv("SYNTF_CACHE"),
    ):
        forget()
        assert cache_store.folder() == platformdirs.user_cache_path("syntf")


@pytest.mark.parametrize(("neighbours", "size"), [(None, 8 * (4 + 3 + 3)), (2, 4 * 41 * 2)])
def test_public_vocabularies_are_cached(empty_cache, toy_vectors, neighbours, size):
    canary = "zanzibarcanary"
    matrix = np.vstack([toy_vectors.matrix, np.full((1, 8), 127, dtype=np.int8)])
    vectors = WordVectors([*toy_vectors.words, canary], matrix)
    texts = [f"The {canary} sings to the cat", f"{canary} dog cat", "dog"]
    synthetic = SynTF(
        preset="paper", vectors=vectors, vocabulary=["cat", "dog", canary], length=5,
        neighbours=neighbours,
    )  # fmt: skip
    synthetic.fit(texts)
    synthetic.transform(texts)
    assert synthetic.get_feature_names_out().tolist() == ["cat", "dog", canary]
    (path,) = (path for path in empty_cache.rglob("*") if path.suffix in (".table", ".neighbours"))
    for form in (canary.encode(), canary.encode("utf-16-le"), canary.encode("utf-32-le")):
        assert form not in path.read_bytes()
        assert form not in str(path).encode()
    # Nothing is packed: all there is are a checksum, and 4 sums, 3 lows and 3 highs, or the
    # numbers of 2 neighbours for each of 41 words.
    assert path.stat().st_size == 32 + size


@pytest.mark.parametrize("more", [{}, {"neighbours": 2}, {"epsilon": None, "loss": 2.0}])
def test_fitted_vocabularies_are_not_cached(empty_cache, toy_vectors, more):
    """Whoever has the vectors could tell the words by what they are the neighbours of."""
    texts = ["The guitar sings to the cat", "guitar dog cat", "dog"]
    synthetic = SynTF(preset="paper", vectors=toy_vectors, fit_vocabulary=True, length=5, **more)
    assert synthetic.fit(texts).transform(texts).sum() == 15
    assert not [path for path in empty_cache.rglob("*") if path.is_file()]
