"""What an analyzer costs and changes, on 20 newsgroups: words a second, and an analyst's F1.

    python benchmarks/analyzers.py [--model en_core_web_sm] [--data-home DIR] [--messages N]

Every message becomes its terms that have an embedded word vector, headers, footers and quotes
stripped. The words of a message are counted the same way for all, as the fast analyzer finds
them, so that the rates compare: words a second of one core's time, over the first 640 messages,
read in this process. The wall time is that of all messages, on all cores; loading is not
counted. The analyst has the plain counts of terms in at least two messages of the training half,
weighs them by tf-idf and classifies by naive Bayes: nothing here is private.
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
from syntf.text.spacy_analyzer import TOGETHER
from syntf.text.tokenizer import Remembered, first_known, tokens
from syntf.vectors.word_vectors import WordVectors


def words(texts: list[str]) -> int:
    return sum(len(tokens(text)) for text in texts)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--model", default="en_core_web_sm")
    options.add_argument("--data-home")
    options.add_argument("--messages", type=int, help="only so many of each half")
    chosen = options.parse_args()
    halves = {
        half: fetch_20newsgroups(
            data_home=chosen.data_home, subset=half, remove=("headers", "footers", "quotes")
        )
        for half in ("train", "test")
    }
    texts = {half: data.data[: chosen.messages] for half, data in halves.items()}
    topics = {half: data.target[: chosen.messages] for half, data in halves.items()}
    everything = [*texts["train"], *texts["test"]]
    print(f"{len(everything):,} messages, {words(everything):,} words, {os.cpu_count()} cores")
    sample = everything[:640]

    vectors = WordVectors.embedded()
    fast: set[str] = set()
    for name in ("fast", "spacy:blank:en", f"spacy:{chosen.model}"):
        analyzer = Anonymizer.build(Settings(analyzer=name, vocabulary=["word"])).analyzer
        term = Remembered(first_known(analyzer, lambda word: vectors.find(word) is not None))
        term[analyzer.alone("word")]  # loads what is needed
        start = time.process_time()
        for first in range(0, len(sample), TOGETHER):  # so few that no process is started
            for found in analyzer.read(sample[first : first + TOGETHER]):
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
            f"{analyzer.name:36} {words(sample) / spent:9,.0f} words a second, "
            f"{seconds:.1f} s for all   "
            f"{len(known):,} terms ({len(known - fast):,} not of fast), {kept:,} occurrences   "
            f"F1 {f1:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
