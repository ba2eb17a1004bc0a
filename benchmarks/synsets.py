"""Measure the size and the tight loss of vocabularies with and without synonyms of WordNet.

    python benchmarks/synsets.py [--data-home DIR]

Uses three vocabularies: the default, one fitted on the example corpus, and one fitted on the
training half of 20 newsgroups, which scikit-learn downloads unless DIR holds them. Embedded
vectors, s = 0.3, ε = 47.5. WordNet must be installed (`SYNTF_WORDNET` names its folder). Seconds
are for a first run, with an empty cache.
"""

import argparse
import io
import os
import re
import tempfile
import time
from importlib.resources import files

import polars as pl
from sklearn.datasets import fetch_20newsgroups

from syntf.core.exact import shown
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.vocabulary import wordnet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-home")
    options = parser.parse_args()
    example = pl.read_csv(io.BytesIO(files("syntf").joinpath("data", "example.csv").read_bytes()))
    newsgroups = fetch_20newsgroups(
        data_home=options.data_home, subset="train", remove=("headers", "footers", "quotes")
    ).data
    source = wordnet.find_wordnet()
    version = re.search(r"WordNet (\S+) Copyright", source.joinpath("data.noun").read_text())
    print(f"WordNet {version[1] if version else '(unknown)'} in {source}\n")
    print("vocabulary             synsets   inputs  outputs    loss  seconds")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SYNTF_CACHE"] = folder  # an empty cache
        for name, texts in (
            ("embedded default", []),
            ("example, fitted", example["text"].to_list()),
            ("20 newsgroups, fitted", newsgroups),
        ):
            for synsets in (False, True):
                start = time.perf_counter()
                settings = Settings(fit_vocabulary=bool(texts), synsets=synsets)
                made = Anonymizer.build(settings, texts).guarantee()
                print(
                    f"{name:22} {'yes' if synsets else 'no':7} {made.input_size:8,} "
                    f"{made.vocabulary_size:8,} {shown(made.loss_per_word.tight, 4):>7} "
                    f"{time.perf_counter() - start:8.1f}"
                )


if __name__ == "__main__":
    main()
