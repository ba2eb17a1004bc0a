"""Rewrite texts with dp-diffractor, its default settings and the benchmark's word vectors.

dp-diffractor would download vectors and NLTK's stop words. Both are put where it looks for them,
and texts are split at spaces. The processor time is that of all its processes.
"""

import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nltk
from diffractor import Diffractor, DiffractorConfig

from suite.work.spell import ROUND, batched, read_words

NAME = "glove-wiki-gigaword-300"
STOP_WORDS = "a about an and as at be by for from in is it of on or that the this to was with"


def prepare(method: str, epsilon: str, vectors: str, words: str) -> Callable[[], dict[str, float]]:
    home = Path(tempfile.mkdtemp())
    place = home / ".cache" / "diffractor" / f"{NAME}.txt"
    place.parent.mkdir(parents=True)
    shutil.copy(vectors, place)
    listed = home / "nltk_data" / "corpora" / "stopwords" / "english"
    listed.parent.mkdir(parents=True)
    listed.write_text("\n".join(STOP_WORDS.split()), encoding="utf-8")
    os.environ["HOME"] = str(home)
    nltk.data.path = [str(home / "nltk_data")]
    nltk.word_tokenize = str.split
    config = DiffractorConfig(epsilon=float(epsilon), method=method, verbose=False)
    diffractor = Diffractor(config, [NAME])
    diffractor.start()
    texts = itertools.cycle([" ".join(some) for some in batched(read_words(words), 100)])

    def cpu() -> float:
        return time.process_time() + sum(cpu_of(worker.pid) for worker in diffractor._pool._pool)

    def once() -> dict[str, float]:
        start, drawn = cpu(), 0
        while cpu() - start < ROUND:
            diffractor.rewrite(next(texts))
            drawn += 100
        return {"amount": drawn, "cpu": cpu() - start}

    return once


def cpu_of(process: int) -> float:
    """Return the processor seconds that another process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
