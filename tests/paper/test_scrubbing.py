"""Scrubbing with scrubadub, and names as its version of 2018 found them."""

import sys
import warnings

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import fetch_20newsgroups

from paper.scrubbing import METHODS, find_names, scrub
from syntf.core.errors import SyntfError

NEEDED = "needs scrubadub: pip install '.[paper]'"


def plain(texts):
    """Scrub with the defaults."""
    return scrub(texts, METHODS[:1])[0]


def unnamed(texts):
    """Scrub names too."""
    return scrub(texts, METHODS[1:])[0]


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
    assert unnamed([text]) == [wanted]
    assert plain([text]) == [text]


def test_a_name_is_removed_wherever_it_occurs(scrubadub):
    """A first word is common if it can be; the same one with a capital further on is a name."""
    assert list(find_names("Kitten sleeps, and the kitten dreams.")) == []
    assert list(find_names("Kitten sleeps. See the Kitten, kitten!")) == [(0, 6), (23, 29)]


def test_longer_of_two_names_is_taken(scrubadub):
    assert list(find_names("Mary-Ann met Mary, Ann said.")) == [(0, 8), (13, 17), (19, 22)]
    assert unnamed(["Mary met Mary-Ann Li."]) == ["{{NAME}} met {{NAME}} {{NAME}}."]


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
    assert unnamed([text]) == ["".join(wanted) + text[upto:]]


def test_detector_is_not_registered_globally(scrubadub):
    known = set(scrubadub.detectors.detector_catalogue.get_all())
    assert unnamed(["the cat Tom"]) == ["the cat {{NAME}}"]
    assert set(scrubadub.detectors.detector_catalogue.get_all()) == known
    assert scrubadub.clean("the cat Tom") == "the cat Tom"
    assert plain(["the cat Tom"]) == ["the cat Tom"]


@given(st.lists(joined(DIRT), max_size=4))
@example(["Call 312-555-1212.", "", "joe@example.org"])
def test_scrub_without_names_equals_scrubadub(scrubadub, texts):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert plain(texts) == [scrubadub.clean(text) for text in texts]


@settings(max_examples=30)
@given(st.lists(joined(DIRT + WORDS), max_size=4))
@example(["Call Anna: 312-555-1212.", "Call Bob: 312-555-1213."])
def test_both_methods_give_what_each_gives_alone(scrubadub, texts):
    assert scrub(texts) == [plain(texts), unnamed(texts)]


@given(st.lists(joined(DIRT) | st.text(max_size=60), max_size=4))
def test_only_empty_texts_become_empty(scrubadub, texts):
    """A text that scrubadub failed on would come with a warning, which is an error here."""
    for cleaned in scrub(texts):
        assert [bool(text) for text in cleaned] == [bool(text) for text in texts]


def test_unusual_texts_are_unchanged(scrubadub):
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
    assert scrub(odd) == [odd, odd]


def test_all_kinds_of_information_are_removed(scrubadub):
    text = "Ask Anna at anna@example.org or 312-555-1212; @anna, 123-45-6789."
    assert plain([text]) == [
        "Ask Anna at {{EMAIL}} or {{PHONE}}; {{TWITTER}}, {{SOCIAL_SECURITY_NUMBER}}."
    ]
    assert unnamed([text]) == [
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
        assert plain(["a@b.org", "bad", "good"]) == ["{{EMAIL}}", "", "good"]
    assert len(told) == 1


def test_error_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "scrubadub", None)
    with pytest.raises(SyntfError, match=r"pip install '\.\[paper\]'"):
        scrub(["a text"])


def test_names_in_20_newsgroups_equal_those_of_2018(scrubadub, newsgroups_home):
    """As many as scrubadub 1.2.0 finds, in 234 messages where it has no choice between two."""
    train = fetch_20newsgroups(
        data_home=newsgroups_home, remove=("headers", "footers", "quotes")
    ).data
    found = [span for text in train[4261:4495] for span in find_names(text)]
    assert len(found) == 2_574
    assert sum(end - beg for beg, end in found) == 15_944
    assert sum(beg for beg, end in found) == 5_261_170
