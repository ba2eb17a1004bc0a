"""Tables on a GPU: the same integers as on a processor, digest for digest."""

import sys

import numpy as np
import pytest

from syntf import SynTF
from syntf.core.errors import SyntfError
from syntf.mechanism import gpu, nearest
from syntf.mechanism.exponential import ExponentialMechanism
from syntf.mechanism.rating import WithEmptyDocument, WordRating


def found(device: str = "cuda") -> bool:
    try:
        gpu.load_torch(device)
    except SyntfError:
        return False
    return True


needs_gpu = pytest.mark.skipif(
    not found(), reason="needs a GPU and PyTorch: pip install 'syntf[cuda]'"
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


@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_missing_packages_are_reported(monkeypatch, missing):
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SyntfError, match=rf"cuda needs {missing}, .* pip install 'syntf\[cuda\]'"):
        gpu.load_torch("cuda")


def test_a_missing_gpu_is_reported(monkeypatch):
    there = type(sys)("torch")
    there.cuda = type(sys)("torch.cuda")
    there.cuda.is_available = lambda: False
    monkeypatch.setitem(sys.modules, "torch", there)
    monkeypatch.setitem(sys.modules, "triton", type(sys)("triton"))
    with pytest.raises(SyntfError, match="PyTorch finds no device for cuda here"):
        gpu.load_torch("cuda")


@pytest.mark.parametrize("given", [{"preset": "paper"}, {}])
def test_a_device_is_needed_only_if_the_cache_has_no_entry(monkeypatch, given):
    """Without a device here, that it is asked is seen by its absence."""
    monkeypatch.setitem(sys.modules, "torch", None)
    terms = ["cat", "dog", "violin"] if given else None
    chosen = {**given, "vocabulary": terms, "max_size": 40, "spelling": 0.123}
    with pytest.raises(SyntfError, match="cuda needs torch"):
        SynTF(**chosen, device="cuda").fit([])
    SynTF(**chosen).fit([])
    with pytest.raises(SyntfError, match="cuda needs torch"):
        SynTF(**chosen, device="cuda").fit([])  # although the cache has the table


def test_missing_device_is_refused_for_whole_documents(call, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "a.csv").write_text("text\ncat\n")
    code, _, err = call("anonymize", "a.csv", "--out", "out", "--device", "cuda")
    assert code == 2
    assert "cuda needs torch" in err
    with pytest.raises(SyntfError, match="cuda needs torch"):
        SynTF(device="cuda").fit([])


@pytest.mark.parametrize("command", [["bounds"], ["anonymize", "a.csv", "--out", "out"]])
def test_commands_use_the_device(call, monkeypatch, tmp_path, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "torch", None)
    (tmp_path / "a.csv").write_text("text\ncat\n")
    code, out, err = call(*command, "--device", "cuda", "--spelling", "0.124", "--max-size", 30)
    assert (code, out) == (2, "")
    assert "cuda needs torch, which is not installed: pip install 'syntf[cuda]'" in err
    assert not (tmp_path / "out").exists()
