"""Tables on a GPU: the same integers as on a processor, digest for digest."""

import sys

import numpy as np
import pytest

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.core.exact import GRID, exponential_table
from syntf.mechanism import gpu, nearest
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.rating import WithEmptyDocument, WordRating
from syntf.privacy import renyi


def found(device: str = "cuda") -> bool:
    try:
        gpu.load_cupy(device)
    except SyntfError:
        return False
    return True


needs_gpu = pytest.mark.skipif(
    not found(), reason="needs a GPU and CuPy: pip install 'syntf[cuda]'"
)


def rating(inputs: int, outputs: int, spelling: float = 0.3, dimensions: int = 25) -> WordRating:
    """Words that share letters, with vectors that are alike at random; some of them equal."""
    random = np.random.default_rng(inputs)
    letters = np.array(list("abcdeAB"))
    words = [
        "".join(random.choice(letters, size)) + str(number)
        for number, size in enumerate(random.integers(1, 30, inputs))
    ]
    vectors = random.integers(-127, 128, (inputs, dimensions)).astype(np.int8)
    vectors[::5] = vectors[0]
    return WordRating(words, vectors, words[-outputs:], vectors[-outputs:], spelling=spelling)


@needs_gpu
@pytest.mark.parametrize("epsilon", [0.01, 12.0, 47.5, 400.0])
@pytest.mark.parametrize(
    ("inputs", "outputs", "spelling"),
    [(1, 1, 0.3), (40, 3, 0.3), (700, 700, 0.0), (3000, 2500, 1.0), (5001, 4999, 0.3)],
)
def test_gpu_measures_the_same_table(monkeypatch, inputs, outputs, spelling, epsilon):
    monkeypatch.setattr(gpu, "BLOCK_ENTRIES", 1 << 20)  # many blocks, the last one small
    words = rating(inputs, outputs, spelling)
    own = ExponentialMechanism(WithEmptyDocument(words), epsilon=epsilon)
    there = ExponentialMechanism(WithEmptyDocument(words), epsilon=epsilon, device="cuda")
    for name, array in vars(own.extremes).items():
        np.testing.assert_array_equal(getattr(there.extremes, name), array, err_msg=name)
    assert there.digest == own.digest
    alone = ExponentialMechanism(words, epsilon=epsilon, device="cuda")
    assert alone.digest == ExponentialMechanism(words, epsilon=epsilon).digest


@needs_gpu
@pytest.mark.parametrize(("outputs", "count"), [(1, 1), (90, 90), (2500, 1), (2500, 7)])
def test_gpu_finds_the_same_neighbours(monkeypatch, outputs, count):
    monkeypatch.setattr(gpu, "BLOCK_ENTRIES", 1 << 20)
    words = rating(3000, outputs)
    heard: list[int] = []
    there = nearest.nearest(words, count, heard.append, "cuda")
    np.testing.assert_array_equal(there, nearest.nearest(words, count))
    assert sum(heard) == 3000


@needs_gpu
@pytest.mark.parametrize("dimensions", [2, 32, 33, 300, 768])
def test_gpu_multiplies_vectors_of_any_length(dimensions):
    words = rating(300, 200, dimensions=dimensions)
    own = ExponentialMechanism(words, epsilon=30.0)
    assert ExponentialMechanism(words, epsilon=30.0, device="cuda").digest == own.digest


@needs_gpu
def test_gpu_measures_words_of_more_bigrams_than_fit_into_shared_memory(monkeypatch):
    monkeypatch.setattr(gpu, "_MOST_COPIED", 0)
    words = rating(700, 600, dimensions=7)
    own = ExponentialMechanism(words, epsilon=30.0)
    assert ExponentialMechanism(words, epsilon=30.0, device="cuda").digest == own.digest


@needs_gpu
def test_gpu_refuses_vectors_that_are_too_long():
    with pytest.raises(SyntfError, match="cuda supports vectors of at most 768 dimensions"):
        ExponentialMechanism(rating(4, 3, dimensions=769), epsilon=3.0, device="cuda")


@needs_gpu
def test_gpu_counts_a_level_that_more_than_65535_outputs_share():
    """Two counters of 16 bits share a word, so one that runs over must be noticed."""
    vectors = np.ones((140_000, 4), dtype=np.int8)
    vectors[::3] = [1, 1, 1, -1]
    names = [str(number) for number in range(len(vectors))]
    words = WordRating(names[:5], vectors[:5], names, vectors, spelling=0.0)
    own = ExponentialMechanism(words, epsilon=5.0)
    assert ExponentialMechanism(words, epsilon=5.0, device="cuda").digest == own.digest


@needs_gpu
def test_gpu_compares_all_pairs():
    words = rating(70, 60)
    mechanism = ExponentialMechanism(words, epsilon=12.0)
    ours, theirs = renyi.all_pairs(mechanism), renyi.all_pairs(mechanism, "cuda")
    for order in renyi.orders(mechanism.loss):
        assert theirs(order) == pytest.approx(ours(order), rel=1e-10)


def test_estimated_logarithms_are_within_the_slack():
    """An extreme is skipped only if its estimate is further away than any estimate can be."""
    for epsilon, bits in [(0.01, 60), (12.0, 50), (47.5, 43), (400.0, 43)]:
        table = exponential_table(epsilon, bits)
        slope, slack = gpu._line(table)
        for scale in (2.0, 2.5, 1234.5):
            weights = np.rint(table * scale)
            offset = np.float32(np.log(scale * float(table[GRID])) - slope * GRID)
            level = np.arange(GRID + 1, dtype=np.float32)
            estimates = level * np.float32(slope) + offset
            assert np.abs(estimates - np.log(weights)).max() <= slack / 2


def test_missing_package_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(SyntfError, match=r"cuda needs cupy, .* pip install 'syntf\[cuda\]'"):
        gpu.load_cupy("cuda")


def without_gpu(monkeypatch) -> None:
    """Make a CuPy importable that finds no GPU."""
    there = type(sys)("cupy")
    there.cuda = type(sys)("cupy.cuda")
    there.cuda.runtime = type(sys)("cupy.cuda.runtime")
    there.cuda.runtime.CUDARuntimeError = RuntimeError
    there.cuda.runtime.getDeviceCount = lambda: 0
    monkeypatch.setitem(sys.modules, "cupy", there)


def test_a_missing_gpu_is_reported(monkeypatch):
    without_gpu(monkeypatch)
    with pytest.raises(SyntfError, match="CuPy finds no device for cuda here"):
        gpu.load_cupy("cuda")


@pytest.mark.parametrize("device", ["cpu", "gpu", "cuda:", "cuda:x", "cuda0"])
def test_an_unknown_device_is_reported(monkeypatch, device):
    without_gpu(monkeypatch)
    with pytest.raises(SyntfError, match="is no device: use cuda"):
        gpu.load_cupy(device)


@pytest.mark.parametrize("given", [{"preset": "paper"}, {}])
def test_a_device_is_needed_only_if_the_cache_has_no_entry(monkeypatch, given):
    """Without a device here, that it is asked is seen by its absence."""
    monkeypatch.setitem(sys.modules, "cupy", None)
    terms = ["cat", "dog", "violin"] if given else None
    chosen = {**given, "vocabulary": terms, "max_size": 40, "spelling": 0.123}
    with pytest.raises(SyntfError, match="cuda needs cupy"):
        SynTF(**chosen, device="cuda").fit([])
    SynTF(**chosen).fit([])
    with pytest.raises(SyntfError, match="cuda needs cupy"):
        SynTF(**chosen, device="cuda").fit([])  # although the cache has the table


def test_missing_device_is_refused_for_whole_documents(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "cupy", None)
    (tmp_path / "a.csv").write_text("text\ncat\n")
    code, _, err = call("anonymize", "a.csv", "--out", "out", "--device", "cuda")
    assert code == 2
    assert "cuda needs cupy" in err
    with pytest.raises(SyntfError, match="cuda needs cupy"):
        SynTF(device="cuda").fit([])


@pytest.mark.parametrize("command", [["bounds"], ["anonymize", "a.csv", "--out", "out"]])
def test_commands_use_the_device(call, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "cupy", None)
    (tmp_path / "a.csv").write_text("text\ncat\n")
    code, out, err = call(*command, "--device", "cuda", "--spelling", "0.124", "--max-size", 30)
    assert (code, out) == (2, "")
    assert "cuda needs cupy, which is not installed: pip install 'syntf[cuda]'" in err
    assert not (tmp_path / "out").exists()
