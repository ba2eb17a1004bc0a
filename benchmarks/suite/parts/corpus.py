"""Measure the time from texts to a release, and the time of scikit-learn for counting words."""

from dataclasses import replace

from suite.figures import Figure, compared, growth, line, plain, spread
from suite.place import WORDS, Place
from suite.process import worker
from suite.rows import Results, Row

TITLE = "Texts to a release: 20 newsgroups"
NOTE = """\
`syntf anonymize` is timed as a whole process, with start-up and reading the file. *Through
Python* is timed from texts in memory to a release on disk, without imports. For scikit-learn,
only the call is timed, with the texts in memory. Every round runs in a new process. *Fixed
cost* and *for each million documents* are intercept and slope of a straight line through all
rounds of all sizes, by least squares of relative deviations, with the range of one standard
error. *Distance from this line* is that of the size whose median is farthest from it. *Per byte
against ASCII* divides processor times of texts whose letters are replaced by others, after
subtracting the time for ten texts from both."""

DOCUMENTS = 18_846
"""Documents of 20 newsgroups."""
LARGEST_FOR_SKLEARN = 10
"""Most copies of 20 newsgroups for scikit-learn, which holds all texts in memory."""
OTHER_LETTERS = {"accents": "vowels with accents", "cyrillic": "Cyrillic letters"}
"""Texts beyond ASCII, in as many bytes as the others."""
OTHERS = {
    "count": "`CountVectorizer().fit_transform`",
    "hashing": "`HashingVectorizer().transform`",
}


def groups(place: Place) -> list[list[Row]]:
    once = place.news()
    vocabulary = ("--vocabulary", place.words("words.txt"))
    rows = [
        place.anonymize("corpus/document/1", "`syntf anonymize`", once),
        place.verify("corpus/verify/1", "`syntf verify` of this release"),
        place.anonymize(
            "corpus/default/1", "`syntf anonymize --preset words`", once, "--preset", "words"
        ),
        place.verify("corpus/verify-default/1", "`syntf verify` of this release"),
        *(
            place.anonymize(
                f"corpus/{which}/1",
                f"`syntf anonymize`, {title}",
                place.letters(which),
                "--accept-coverage",
            )
            for which, title in OTHER_LETTERS.items()
        ),
        place.anonymize(
            "corpus/paper/1", "`syntf anonymize --preset paper`", once, "--preset", "paper"
        ),
        place.anonymize("corpus/words/1", f"`syntf anonymize`, {WORDS:,} words", once, *vocabulary),
        *(_through_python(place, preset) for preset in ("words", "paper")),
        *(_counted(place, which, 1, place.rounds) for which in OTHERS),
        place.anonymize("corpus/ten", "`syntf anonymize`, ten texts", place.ten()),
    ]
    more = [rows]
    for times in place.times:
        if times == 1:
            continue
        path = place.news(times)
        rounds = place.few if times <= LARGEST_FOR_SKLEARN else 1
        larger = [
            place.anonymize(
                f"corpus/document/{times}", f"`syntf anonymize`, × {times}", path, rounds=rounds
            ),
            place.anonymize(
                f"corpus/default/{times}", f"`syntf anonymize --preset words`, × {times}", path,
                "--preset", "words", rounds=rounds,
            ),
            place.anonymize(
                f"corpus/words/{times}", f"`syntf anonymize`, {WORDS:,} words, × {times}", path,
                *vocabulary, rounds=1,
            ),
        ]  # fmt: skip
        if times <= LARGEST_FOR_SKLEARN:
            larger += [_counted(place, which, times, 1) for which in OTHERS]
        # The rows of the smaller file have filled the cache: no warm-up is needed.
        more.append([replace(row, warm=False) for row in larger])
    return more


def _through_python(place: Place, preset: str) -> Row:
    title = f"through Python, preset {preset}"
    command = worker("release", preset, place.news(), place.scratch / "written")
    return Row(
        f"corpus/python-{_key(preset)}/1", title, command, "fresh", place.rounds, env=place.env
    )


def _counted(place: Place, which: str, times: int, rounds: int) -> Row:
    title = OTHERS[which] + (f", × {times}" if times > 1 else "")
    command = worker("count", which, place.news(times))
    return Row(f"corpus/{which}/{times}", title, command, "fresh", rounds)


def figures(found: Results) -> list[Figure]:
    counted, hashed = found["corpus/count/1"], found["corpus/hashing/1"]
    made: list[Figure] = []
    for preset, must, aim in (("document", 0.5, 0.35), ("words", 1.0, 0.25), ("paper", 3.0, 1.5)):
        key = _key(preset)
        process, python = found[f"corpus/{key}/1"], found.get(f"corpus/python-{key}/1")
        title = "default settings" if preset == "document" else f"preset {preset}"
        made += compared(
            f"corpus/{key}", f"{title}, whole process, against CountVectorizer",
            process, counted, must=must, aim=aim,
        )  # fmt: skip
        if python is not None:
            made += compared(
                f"corpus/{key}-python", f"{title}, through Python, against CountVectorizer",
                python, counted,
            )  # fmt: skip
        made += compared(
            f"corpus/{key}-hashing", f"{title}, whole process, against HashingVectorizer",
            process, hashed,
        )  # fmt: skip
    return made + _verifying(found) + _beyond_ascii(found) + _growing(found)


def _verifying(found: Results) -> list[Figure]:
    """Compare verifying a release with making it."""
    return [
        *compared(
            "corpus/verify", "verifying, against anonymizing", found["corpus/verify/1"],
            found["corpus/document/1"], must=1.0,
        ),
        *compared(
            "corpus/verify-default", "preset words, verifying, against anonymizing",
            found["corpus/verify-default/1"], found["corpus/default/1"], must=1.0,
        ),
    ]  # fmt: skip


def _beyond_ascii(found: Results) -> list[Figure]:
    """Compare texts beyond ASCII with as many bytes of ASCII, by processor time."""
    plain_texts, start = found["corpus/document/1"].values("cpu"), found["corpus/ten"].values("cpu")
    made = []
    for which, title in OTHER_LETTERS.items():
        other = found[f"corpus/{which}/1"].values("cpu")
        if other and plain_texts and start:
            values = growth(other, plain_texts, spread(start).middle)
            text = f"{title}, per byte against ASCII, less start-up"
            made.append(Figure(f"corpus/{which}", text, values, must=1.5))
    return made


def _growing(found: Results) -> list[Figure]:
    made: list[Figure] = []
    for key in sorted((key for key in found if key.startswith("corpus/words/")), key=_times):
        times = _times(key)
        made += plain(
            f"corpus/memory-{times}", f"peak memory, {WORDS:,} words, × {times}", found[key],
            of="peak", unit="MB", must=600.0, aim=300.0,
        )  # fmt: skip
    return made + [one for preset in ("document", "words") for one in _on_a_line(found, preset)]


def _on_a_line(found: Results, preset: str) -> list[Figure]:
    """Return intercept and slope of the time over millions of documents, of two sizes or more."""
    prefix = f"corpus/{_key(preset)}/"
    sizes = {_times(key): found[key].values("seconds") for key in found if key.startswith(prefix)}
    points = [(times * DOCUMENTS / 1e6, value) for times in sizes for value in sizes[times]]
    if len({size for size, _ in points}) < 2:
        return []
    fitted = line(*zip(*points, strict=True))
    middles = {times * DOCUMENTS / 1e6: spread(values).middle for times, values in sizes.items()}
    farthest = max(
        abs(middle / (fitted.intercept + fitted.slope * size) - 1)
        for size, middle in middles.items()
    )
    title = "default settings" if preset == "document" else f"preset {preset}"
    largest = max(sizes)
    return [
        Figure(
            f"{prefix}fixed", f"{title}, up to × {largest}: fixed cost",
            _around(fitted.intercept, fitted.intercept_error), "s",
        ),
        Figure(
            f"{prefix}slope", f"{title}, up to × {largest}: for each million documents",
            _around(fitted.slope, fitted.slope_error), "s",
        ),
        Figure(
            f"{prefix}distance", f"{title}, up to × {largest}: distance from this line",
            [100 * farthest], "%", must=5.0,
        ),
    ]  # fmt: skip


def _around(value: float, error: float) -> list[float]:
    return [value - error, value, value + error]


def _key(preset: str) -> str:
    """Return the key of a preset's figures: words was the default of 0.1 and was stored so."""
    return "default" if preset == "words" else preset


def _times(key: str) -> int:
    return int(key.rpartition("/")[2])
