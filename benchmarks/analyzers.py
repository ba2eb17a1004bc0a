"""Compare analyzers on 20 newsgroups: words per second, and the F1 of an analyst.

    python benchmarks/analyzers.py [--model en_core_web_sm] [--data-home DIR] [--messages N]

Each message, without headers, footers and quotes, becomes its terms that have an embedded word
vector. Rates are words per second of one core, over the first 640 messages; the words are counted
as the fast analyzer finds them, so that the rates compare. The wall time is that of all messages on
all cores, without loading. The analyst gets the true counts of terms that occur in at least two
messages of the training half, weighs them by tf-idf and classifies with naive Bayes. Nothing here
is private.
"""

import argparse
import os
import time

from sklearn.datasets import fetch_20newsgroups
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.text.spacy_analyzer import BATCH_TEXTS
from syntf.text.tokenizer import Memo, first_known, tokenize
from syntf.vectors.word_vectors import WordVectors


def words(texts: list[str]) -> int:
    return sum(len(tokenize(text)) for text in texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="en_core_web_sm")
    parser.add_argument("--data-home")
    parser.add_argument("--messages", type=int, help="use only the first N messages of each half")
    options = parser.parse_args()
    halves = {
        half: fetch_20newsgroups(
            data_home=options.data_home, subset=half, remove=("headers", "footers", "quotes")
        )
        for half in ("train", "test")
    }
    texts = {half: data.data[: options.messages] for half, data in halves.items()}
    topics = {half: data.target[: options.messages] for half, data in halves.items()}
    everything = [*texts["train"], *texts["test"]]
    print(f"{len(everything):,} messages, {words(everything):,} words, {os.cpu_count()} cores")
    sample = everything[:640]

    vectors = WordVectors.embedded()
    fast: set[str] = set()
    for name in ("fast", "spacy:blank:en", f"spacy:{options.model}"):
        analyzer = Anonymizer.build(Settings(analyzer=name, vocabulary=["word"])).analyzer
        term = Memo(first_known(analyzer, lambda word: vectors.find(word) is not None))
        term[analyzer.token_of("word")]  # load the analyzer
        start = time.process_time()
        for first in range(0, len(sample), BATCH_TEXTS):  # too few to start worker processes
            for found in analyzer.read(sample[first : first + BATCH_TEXTS]):
                [term[token] for token in found]
        spent = time.process_time() - start
        start = time.perf_counter()
        read = {
            half: [[term[token] for token in found if term[token]] for found in analyzer.read(some)]
            for half, some in texts.items()
        }
        seconds = time.perf_counter() - start

        counter = CountVectorizer(analyzer=list, min_df=2)
        counts = {"train": counter.fit_transform(read["train"])}
        counts["test"] = counter.transform(read["test"])
        analyst = make_pipeline(TfidfTransformer(), MultinomialNB(alpha=0.01))
        guess = analyst.fit(counts["train"], topics["train"]).predict(counts["test"])
        f1 = f1_score(topics["test"], guess, average="weighted")
        known = set(counter.get_feature_names_out())
        fast = fast or known
        kept = sum(matrix.sum() for matrix in counts.values())
        print(
            f"{analyzer.name:36} {words(sample) / spent:9,.0f} words per second, "
            f"{seconds:.1f} s for all   "
            f"{len(known):,} terms ({len(known - fast):,} not of fast), {kept:,} occurrences   "
            f"F1 {f1:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
