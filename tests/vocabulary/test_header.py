import pytest

from syntf.core.errors import SyntfError
from syntf.vocabulary.header import Header, read_terms

FIELDS = [("source", "a b.csv"), ("source-sha256", "ab" * 32), ("documents", "12"), ("note", "")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "terms.txt"


def test_a_written_header_is_read_back(path):
    path.write_text(Header(FIELDS).as_text() + "cat\ndog\n")
    header, terms = read_terms(path)
    assert (header, terms) == (Header(FIELDS), ["cat", "dog"])


@pytest.mark.parametrize("term", ["# cat", "#", "#cat", "# provenance: fitted", "cat: dog"])
def test_lines_after_the_header_are_terms_even_if_they_look_like_comments(path, term):
    path.write_text(f"{Header(FIELDS).as_text()}{term}\ndog\n")
    assert read_terms(path) == (Header(FIELDS), [term, "dog"])


@pytest.mark.parametrize(
    "first", ["cat", "# cat", "# provenance: fitted", "#syntf vocabulary", "# syntf vocabulary 2"]
)
def test_without_the_first_line_every_line_is_a_term(path, first):
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
    assert read_terms(path) == (Header([("source", "x:y"), ("by hand", "")]), ["cat"])
    path.write_bytes(b"# syntf vocabulary\n# source: x")
    assert read_terms(path) == (Header([("source", "x")]), [])


def test_a_key_may_be_repeated():
    header = Header([("source-sha256", "a"), ("source-sha256", "B"), ("texts-sha256", "c")])
    assert header.values("source-sha256") == ["a", "B"]


DECLARED = [
    ([], "public"),
    ([("morphology", "lower")], "public"),
    ([("public", "yes")], "public"),
    ([("public", "no")], "fitted"),
    ([("public", "yes"), ("public", "no")], "fitted"),
    ([("provenance", "public")], "public"),
    ([("provenance", "fitted")], "fitted"),
    ([("public", "yes"), ("provenance", "fitted")], "fitted"),
]


@pytest.mark.parametrize(("fields", "provenance"), DECLARED)
def test_header_declares_whether_the_terms_are_public(fields, provenance):
    assert Header(fields).provenance == provenance


@pytest.mark.parametrize("key", ["source", "source-sha256", "texts-sha256", "documents"])
@pytest.mark.parametrize("written_by_0_1", [[], [("provenance", "public")]])
def test_terms_built_from_texts_are_fitted_unless_declared_public(key, written_by_0_1):
    """Version 0.1 wrote `provenance: public` by itself, so that is no declaration."""
    fields = [(key, "x"), *written_by_0_1]
    assert Header(fields).provenance == "fitted"
    assert Header([*fields, ("public", "yes")]).provenance == "public"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("provenance: mine", "provenance must be public or fitted, not 'mine'"),
        ("public: perhaps", "public must be yes or no, not 'perhaps'"),
        ("public:", "public must be yes or no, not ''"),
    ],
)
def test_a_declaration_with_another_value_is_refused(path, line, message):
    path.write_text(f"# syntf vocabulary\n# {line}\ncat\n")
    with pytest.raises(SyntfError, match=message):
        read_terms(path)
