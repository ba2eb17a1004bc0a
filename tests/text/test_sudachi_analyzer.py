"""Japanese texts, which the service reads in several threads at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from syntf.language.pack import embedded_pack
from syntf.text.sudachi_analyzer import SudachiAnalyzer

pytest.importorskip("sudachipy", reason="needs SudachiPy: pip install 'syntf[japanese]'")
pytest.importorskip("sudachidict_core")

TEXT = "東京都の図書館は閉まっていたので、バスで家に帰りました。"


def test_no_thread_changes_what_another_one_reads():
    """A tokenizer that threads shared failed for all but one, and their texts had no words."""
    analyzer = SudachiAnalyzer(stop_words=frozenset(), pack=embedded_pack())
    (one,) = analyzer.read([TEXT])
    assert ("図書館",) in one
    texts = [TEXT * 100] * 12
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: next(analyzer.read([text])), texts))
    assert [len(terms) for terms in found] == [100 * len(one)] * 12
    assert all(terms == found[0] for terms in found)
