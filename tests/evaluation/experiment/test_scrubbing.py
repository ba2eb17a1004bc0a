"""Scrubbing with scrubadub, and names as its version of 2018 found them."""

import os
import pickle
import sys
import warnings
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.datasets import fetch_20newsgroups

from syntf.core.errors import SyntfError
from syntf.evaluation.experiment import scrubbing
from syntf.evaluation.experiment.scrubbing import find_names, scrub, scrub_in_ways, scrubber_version

NEEDED = "needs scrubadub: pip install 'syntf[evaluate]'"

# What scrubadub 1.2.0 made of these, with textblob 0.10.0.
OF_2018 = [
    (
        "Hello. Please write to Anna Smith, or call Skype.",
        "Hello. Please write to {{NAME}} {{NAME}}, or call Skype.",
    ),
    ("IS THIS A TEST OF SHOUTING, Bob?", "IS THIS A TEST OF SHOUTING, {{NAME}}?"),
    ("cheers,Evan", "cheers,Evan"),
    ("the Yankees and Russians", "the {{NAME}} and {{NAME}}"),
    ("John and JOHN, johnJohn", "{{NAME}} and JOHN, johnJohn"),
    ("Mark mark Mark's MARK Marked", "{{NAME}} mark {{NAME}}'s {{NAME}} {{NAME}}"),
    (
        "Smith/Jones and O'Neill met Mary-Ann Li at NASA in the U.S. on Monday.",
        "{{NAME}} and {{NAME}}'{{NAME}} met {{NAME}} {{NAME}} at {{NAME}} in the U.S. on {{NAME}}.",
    ),
    (
        "Dear Kay\n\nThanks to Wm. and Prof. Zweig:\n>Zweig wrote\n--Zed_Zed Zed",
        "{{NAME}} {{NAME}}\n\nThanks to Wm. and {{NAME}}. {{NAME}}:\n"
        ">{{NAME}} wrote\n--{{NAME}} {{NAME}}",
    ),
    ("Am Zürichsee wohnt Émile Zola.", "{{NAME}} {{NAME}} wohnt {{NAME}} {{NAME}}."),
]

DIRT = [
    "joe@example.org", "joe at example dot org", "312-555-1212", "+1 (312) 555 1212 ext. 5",
    "http://www.example.org/a?b", "@joe", "123-45-6789", "4111111111111111",
    "login: root password: toor", "Anna", "skype", "the", "x" * 300, "{{", "}}", "\x00", "\ud800",
]  # fmt: skip
WORDS = (
    "Kitten kitten Mary Mary-Ann Ann. Zed/Zod Zed Zod Zed_Zod O'Neill Skype skype U.S. the a of "
    "runs NASA Émile :D ǅ joe END-OF-SENTENCE &slash;"
).split()
BETWEEN = ["", " ", ". ", ", ", "-", "/", "'", "_", "\n", "\n\n", "...", "\u2028", ">"]


def joined(words):
    parts = st.tuples(st.sampled_from(words), st.sampled_from(BETWEEN))
    return st.lists(parts, max_size=25).map(lambda pairs: "".join(w + b for w, b in pairs))


@pytest.fixture(scope="module")
def scrubadub():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("scrubadub", reason=NEEDED)


def names_by_hand(text, nouns):
    """Go through the text; at each place take the longest noun that stands between boundaries."""

    def word(place):
        return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")

    def boundary(place):
        return word(place - 1) != word(place)

    place, found = 0, []
    while place < len(text):
        ends = [place + len(noun) for noun in nouns if text.startswith(noun, place)]
        ends = [end for end in ends if boundary(place) and boundary(end)]
        if ends:
            found.append((place, max(ends)))
        place = max(ends, default=place + 1)
    return found


@pytest.mark.parametrize(("text", "wanted"), OF_2018)
def test_names_equal_those_of_2018(scrubadub, text, wanted):
    assert scrub([text], names=True) == [wanted]
    assert scrub([text]) == [text]


def test_a_name_is_removed_wherever_it_occurs(scrubadub):
    """A first word is common if it can be; the same one with a capital further on is a name."""
    assert list(find_names("Kitten sleeps, and the kitten dreams.")) == []
    assert list(find_names("Kitten sleeps. See the Kitten, kitten!")) == [(0, 6), (23, 29)]


def test_longer_of_two_names_is_taken(scrubadub):
    assert list(find_names("Mary-Ann met Mary, Ann said.")) == [(0, 8), (13, 17), (19, 22)]
    assert scrub(["Mary met Mary-Ann Li."], names=True) == ["{{NAME}} met {{NAME}} {{NAME}}."]


@given(joined(WORDS) | st.text(max_size=40))
def test_names_equal_a_simple_search(scrubadub, text):
    from textblob.en.taggers import PatternTagger

    tagged = PatternTagger().tag(text)
    nouns = {word for word, tag in tagged if tag in ("NNP", "NNPS") and word.lower() != "skype"}
    assert list(find_names(text)) == names_by_hand(text, nouns)


@given(joined(WORDS))
def test_only_names_are_replaced(scrubadub, text):
    """Names that touch share a placeholder; all else stays, to the letter."""
    wanted, upto, touching = [], 0, 0
    for beg, end in find_names(text):
        touching = touching + 1 if wanted and beg == upto else 1
        if touching == 1:
            wanted += [text[upto:beg], ""]
        wanted[-1] = "{{" + "+".join(["NAME"] * touching) + "}}"
        upto = end
    assert scrub([text], names=True) == ["".join(wanted) + text[upto:]]


def test_detector_fulfils_the_interface_of_scrubadub(scrubadub):
    detector = scrubbing._proper_noun_detector()(locale="en_GB")
    assert isinstance(detector, scrubadub.detectors.Detector)
    (filth,) = detector.iter_filth("the cat Émile", document_name="letter")
    assert type(filth) is scrubadub.filth.NameFilth
    assert (filth.beg, filth.end, filth.text) == (8, 13, "Émile")
    assert (filth.document_name, filth.detector_name) == ("letter", "proper_noun")
    assert filth.locale == "en_GB"


def test_names_of_several_documents_are_separate(scrubadub):
    scrubber = scrubadub.Scrubber(detector_list=[scrubbing._proper_noun_detector()])
    found = scrubber.iter_filth_documents({"a": "the cat Tom", "b": "a dog, Rex"})
    assert [(f.document_name, f.beg, f.end) for f in found] == [("a", 8, 11), ("b", 7, 10)]


def test_detector_is_not_registered_globally(scrubadub):
    known = set(scrubadub.detectors.detector_catalogue.get_all())
    assert scrub(["the cat Tom"], names=True) == ["the cat {{NAME}}"]
    assert set(scrubadub.detectors.detector_catalogue.get_all()) == known
    assert scrubadub.clean("the cat Tom") == "the cat Tom"
    assert scrub(["the cat Tom"]) == ["the cat Tom"]


@given(st.lists(joined(DIRT), max_size=4))
@example(["Call 312-555-1212.", "", "joe@example.org"])
def test_scrub_without_names_equals_scrubadub(scrubadub, texts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert scrub(texts) == [scrubadub.clean(text) for text in texts]


@given(st.lists(joined(DIRT + WORDS), max_size=4), st.lists(st.booleans(), min_size=1, max_size=3))
@example(["Call Anna: 312-555-1212.", "Call Bob: 312-555-1213."], [False, True])
def test_several_ways_give_what_each_gives_alone(scrubadub, texts, ways):
    scrubbers = [scrubadub.Scrubber() for _ in ways]
    for names, scrubber in zip(ways, scrubbers, strict=True):
        if names:
            scrubber.add_detector(scrubbing._proper_noun_detector()())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        wanted = [[scrubber.clean(text) for text in texts] for scrubber in scrubbers]
    assert scrub_in_ways(texts, ways) == wanted


@given(st.lists(joined(DIRT) | st.text(max_size=60), max_size=4))
def test_only_empty_texts_become_empty(scrubadub, texts):
    """A text that scrubadub failed on would come with a warning, which is an error here."""
    for names in (False, True):
        cleaned = scrub(texts, names=names)
        assert [bool(text) for text in cleaned] == [bool(text) for text in texts]


@pytest.mark.parametrize("names", [False, True])
def test_unusual_texts_are_unchanged(scrubadub, names):
    odd = [
        "",
        " ",
        "\n\n\n",
        "\x00",
        "\ud800",
        "-" * 20_000,
        "x" * 20_000,
        "(" * 2_000,
        "' ! " * 99,
    ]
    assert scrub(odd, names=names) == odd


def test_all_kinds_of_information_are_removed(scrubadub):
    text = "Ask Anna at anna@example.org or 312-555-1212; @anna, 123-45-6789."
    assert scrub([text]) == [
        "Ask Anna at {{EMAIL}} or {{PHONE}}; {{TWITTER}}, {{SOCIAL_SECURITY_NUMBER}}."
    ]
    assert scrub([text], names=True) == [
        "Ask {{NAME}} at {{EMAIL}} or {{PHONE}}; {{TWITTER}}, {{SOCIAL_SECURITY_NUMBER}}."
    ]


def test_failure_empties_only_its_own_text(scrubadub, monkeypatch):
    genuine = scrubadub.Scrubber.clean

    def clean(self, text):
        if text == "bad":
            raise scrubadub.exceptions.FilthMergeError("text length isn't consistent")
        return genuine(self, text)

    monkeypatch.setattr(scrubadub.Scrubber, "clean", clean)
    with pytest.warns(UserWarning, match=r"failed on text 1, now empty: FilthMergeError") as told:
        assert scrub(["a@b.org", "bad", "good"]) == ["{{EMAIL}}", "", "good"]
    assert len(told) == 1
    assert told[0].filename == __file__


def test_interruption_is_raised(scrubadub, monkeypatch):
    def interrupted(self, text):
        raise KeyboardInterrupt

    monkeypatch.setattr(scrubadub.Scrubber, "clean", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scrub(["text"])


def test_scrub_can_be_pickled(scrubadub):
    again = pickle.loads(pickle.dumps(partial(scrub, names=True)))  # noqa: S301
    assert again(["the cat Tom"]) == ["the cat {{NAME}}"]


def test_scrubber_version(scrubadub):
    assert scrubber_version() == f"scrubadub {scrubadub.__version__}"


def test_error_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "scrubadub", None)
    for call in (scrubber_version, partial(scrub, []), partial(scrub, [], names=True)):
        with pytest.raises(SyntfError, match=r"pip install 'syntf\[evaluate\]'"):
            call()


def test_names_in_20_newsgroups_equal_those_of_2018(scrubadub):
    """As many as scrubadub 1.2.0 finds, in 234 messages where it has no choice between two."""
    try:
        train = fetch_20newsgroups(
            data_home=os.environ.get("SYNTF_NEWSGROUPS"),
            remove=("headers", "footers", "quotes"),
            download_if_missing=False,
        ).data
    except OSError:
        pytest.skip(
            "20 newsgroups are not here: python -c 'from sklearn.datasets import "
            "fetch_20newsgroups as fetch; fetch()', or set SYNTF_NEWSGROUPS to a data home"
        )
    found = [span for text in train[4261:4495] for span in find_names(text)]
    assert len(found) == 2_574
    assert sum(end - beg for beg, end in found) == 15_944
    assert sum(beg for beg, end in found) == 5_261_170
