import pytest
from hypothesis import given
from hypothesis import strategies as st

from syntf.core.errors import SyntfError
from syntf.vocabulary.header import Origin, read_terms, texts_digest

FIELDS = [("source", "a b.csv"), ("source-sha256", "ab" * 32), ("documents", "12"), ("note", "")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "terms.txt"


def test_a_header_is_read_as_it_was_written(path):
    path.write_text(Origin(FIELDS).as_text() + "cat\ndog\n")
    origin, terms = read_terms(path)
    assert (origin, terms) == (Origin(FIELDS), ["cat", "dog"])


@pytest.mark.parametrize("term", ["# cat", "#", "#cat", "# provenance: fitted", "cat: dog"])
def test_what_follows_a_header_is_a_term_whatever_it_looks_like(path, term):
    path.write_text(f"{Origin(FIELDS).as_text()}{term}\ndog\n")
    assert read_terms(path) == (Origin(FIELDS), [term, "dog"])


@pytest.mark.parametrize(
    "first", ["cat", "# cat", "# provenance: fitted", "#syntf vocabulary", "# syntf vocabulary 2"]
)
def test_a_file_that_begins_in_another_way_is_all_terms(path, first):
    path.write_text(f"{first}\n# syntf vocabulary\n# morphology: lower\ndog\n")
    assert read_terms(path) == (
        None,
        [first, "# syntf vocabulary", "# morphology: lower", "dog"],
    )


@pytest.mark.parametrize("raw", [b"", b"\n\n"])
def test_an_empty_file_has_neither_header_nor_terms(path, raw):
    path.write_bytes(raw)
    assert read_terms(path) == (None, [])


def test_a_header_may_end_at_a_term_or_with_the_file(path):
    path.write_bytes(b"\xef\xbb\xbf# syntf vocabulary\r\n# Source:  x:y \r\n# by hand\r\ncat\r\n")
    assert read_terms(path) == (Origin([("source", "x:y"), ("by hand", "")]), ["cat"])
    path.write_bytes(b"# syntf vocabulary\n# source: x")
    assert read_terms(path) == (Origin([("source", "x")]), [])


def test_a_key_may_be_repeated():
    origin = Origin([("source-sha256", "a"), ("source-sha256", "B"), ("texts-sha256", "c")])
    assert origin.values("source-sha256") == ["a", "B"]
    assert [origin.fitted_on({digest}) for digest in "abcd"] == [True, True, True, False]
    assert not origin.fitted_on(set())


def test_a_value_that_is_no_provenance_is_refused(path):
    path.write_text("# syntf vocabulary\n# provenance: mine\ncat\n")
    with pytest.raises(SyntfError, match="provenance must be public or fitted, not 'mine'"):
        read_terms(path)


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_texts_have_the_digest_of_equal_texts_in_any_order_and_of_no_others(one, other):
    assert (texts_digest(one) == texts_digest(other)) == (sorted(one) == sorted(other))
