"""Texts in several languages in one release."""

import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_language import WORDS

from syntf import SynTF, release
from syntf.cli import app as cli
from syntf.codebook.codebook import Codebook
from syntf.codebook.several import share_topics
from syntf.core.errors import SyntfError
from syntf.language import store
from syntf.language.several import joint_digest
from syntf.packs.align import align_pack, nearest_pairs, procrustes
from syntf.packs.build import build_pack
from syntf.pipeline import prepare, sample
from syntf.pipeline.document import DocumentAnonymizer
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Language
from syntf.serve.document_playground import DocumentPlayground
from syntf.serve.document_service import DocumentService
from syntf.text.word_reader import WordReader
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.table import language_is_stated
from syntf.verification.verify import verify

LETTERS = str.maketrans("абвежиклмнопрстуш", "abvezjklmnoprstuh")
LATIN = [word.translate(LETTERS) for word in WORDS]
"""The words of the second invented language, each a translation of the word at its place."""
STOPS = ("li", "on", WORDS[5])


def rotation(size):
    return np.linalg.qr(np.random.default_rng(5).normal(size=(size, size)))[0]


@pytest.fixture(scope="module")
def second_pack(tmp_path_factory, toy_pack):
    """A pack whose vectors are those of the first, turned."""
    folder = tmp_path_factory.mktemp("second")
    turned = np.asarray(WordVectors.of_pack(toy_pack).matrix, dtype=float) @ rotation(24)
    lines = [f"{len(LATIN)} 24"]
    lines += [
        " ".join([word, *map("{:.3f}".format, row)])
        for word, row in zip(LATIN, turned, strict=True)
    ]
    (folder / "vectors.vec").write_text("\n".join(lines))
    (folder / "stop.txt").write_text("\n".join(STOPS), encoding="utf-8")
    return build_pack(
        "hr", folder / "pack", vectors=str(folder / "vectors.vec"),
        stop_words=str(folder / "stop.txt"), numbers=str(folder / "stop.txt"),
    )  # fmt: skip


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory):
    path = tmp_path_factory.mktemp("dictionary") / "hr-uk.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in zip(LATIN, WORDS, strict=True)), "utf-8")
    return path


@pytest.fixture(scope="module")
def aligned(tmp_path_factory, second_pack, toy_pack, dictionary):
    out = tmp_path_factory.mktemp("aligned") / "pack"
    return align_pack(second_pack, toy_pack, out, dictionary=dictionary)


@pytest.fixture(scope="module")
def both(toy_pack, aligned):
    """The value of --language for the two packs."""
    return f"{toy_pack.folder},{aligned.folder}"


@pytest.fixture(scope="module")
def anonymizer(both):
    return DocumentAnonymizer.build(Settings.from_preset("document", language=both))


TEXTS = [" ".join(words[place : place + 4]) for words in (WORDS, LATIN) for place in range(20, 60)]

# Aligning


def test_procrustes_finds_the_rotation():
    own = np.random.default_rng(1).normal(size=(60, 9))
    assert np.allclose(procrustes(own, own @ rotation(9)), rotation(9), atol=1e-5)
    fewer = rotation(9)[:, :4]
    assert np.allclose(procrustes(own @ fewer, own @ fewer), np.eye(4), atol=1e-5)
    turn = procrustes(own, own @ fewer)
    assert turn.shape == (9, 4)
    assert np.allclose(turn.T @ turn, np.eye(4), atol=1e-5)


def test_nearest_pairs_agree_with_brute_force():
    rng = np.random.default_rng(2)
    own, other = (rng.normal(size=(count, 5)).astype(np.float32) for count in (14, 17))
    similar = own @ other.T
    around = [np.sort(row)[-10:].mean() for row in similar]
    about = [np.sort(row)[-10:].mean() for row in similar.T]
    score = [[2 * similar[i, j] - around[i] - about[j] for j in range(17)] for i in range(14)]
    wanted = [
        [i, j]
        for i in range(14)
        for j in range(17)
        if score[i][j] == max(score[i]) and score[i][j] == max(row[j] for row in score)
    ]
    assert nearest_pairs(own, other).tolist() == wanted


def test_aligned_words_point_where_their_translations_do(toy_pack, second_pack, aligned):
    def cosines(pack):
        pairs = [WordVectors.of_pack(one).matrix.astype(float) for one in (toy_pack, pack)]
        first, other = (table / np.linalg.norm(table, axis=1)[:, None] for table in pairs)
        return (first * other).sum(axis=1)

    assert cosines(aligned).min() > 0.9
    assert abs(cosines(second_pack).mean()) < 0.3
    assert share_topics(Codebook.of_pack(toy_pack), Codebook.of_pack(aligned))
    assert not share_topics(Codebook.of_pack(toy_pack), Codebook.of_pack(second_pack))


def test_an_aligned_pack_records_how_it_was_made(
    toy_pack, second_pack, aligned, dictionary, tmp_path
):
    about = aligned.sources[-1]
    assert about.what == "alignment"
    assert f"with uk sha256:{toy_pack.digest}, orthogonal matrix sha256:" in about.origin
    assert about.origin.endswith("pairs of words; it finds 100% of 29 others")
    assert [one.origin for one in aligned.sources if one.what == "topics"] == ["toy.vec"]
    again = align_pack(second_pack, toy_pack, tmp_path / "again", dictionary=dictionary)
    assert again.digest == aligned.digest
    assert aligned.code == "hr"
    assert aligned.path("words").read_bytes() == second_pack.path("words").read_bytes()


def test_vectors_that_are_aligned_already_stay(toy_pack, aligned, tmp_path):
    again = align_pack(aligned, toy_pack, tmp_path / "pack", as_is=True)
    assert again.files["vectors"] == aligned.files["vectors"]
    assert again.files["codebook"] == aligned.files["codebook"]


def test_packs_that_cannot_be_aligned_are_refused(toy_pack, second_pack, tmp_path):
    out = tmp_path / "out"
    bad = tmp_path / "bad.tsv"
    bad.write_text("one word\n")
    wrong = tmp_path / "wrong.tsv"
    turned = [WORDS[place] for place in np.random.default_rng(3).permutation(len(WORDS))]
    wrong.write_text("".join(f"{a}\t{b}\n" for a, b in zip(LATIN, turned, strict=True)), "utf-8")
    for options, message in (
        ({}, "the packs have the same spelling of 0 known words, and at least 100 pairs"),
        ({"dictionary": bad}, "bad.tsv: line 1 is not a word, a tab and its translation"),
        ({"dictionary": wrong}, "could not be aligned: .*% of 29 pairs of words were found again"),
        ({"dictionary": tmp_path / "no.tsv"}, "cannot read the dictionary"),
    ):
        with pytest.raises(SyntfError, match=message):
            align_pack(second_pack, toy_pack, out, **options)
    with pytest.raises(SyntfError, match="both packs are for 'uk'"):
        align_pack(toy_pack, toy_pack, out)
    with pytest.raises(SyntfError, match="other numbers of dimensions"):
        align_pack(toy_pack, store.find("en"), out, as_is=True)
    assert not out.exists()
    out.mkdir()
    with pytest.raises(SyntfError, match="exists already"):
        align_pack(second_pack, toy_pack, out)


# Reading


def test_function_words_decide_and_then_known_words(anonymizer):
    choose = anonymizer.reader.analyzer.choose
    first, second = WORDS[6], STOPS[0]
    texts = [
        f"{first} {LATIN[40]} {LATIN[41]}", f"{second} {WORDS[40]} {WORDS[41]}",
        f"{first} {second} {second}", f"{first} {second} {LATIN[9]}",
        f"{WORDS[5]} {LATIN[9]}",  # a function word of both languages does not count
        "", f"{WORDS[9]} {LATIN[9]}",
    ]  # fmt: skip
    assert choose(texts).tolist() == [0, 1, 1, 1, 1, 0, 0]
    assert choose([]).tolist() == []


PIECES = st.sampled_from([*WORDS[:12], *LATIN[:12], *STOPS, "qq", "Л", "3", "'s"])


@settings(max_examples=60)
@given(texts=st.lists(st.lists(PIECES, max_size=8).map(" ".join), max_size=6))
def test_texts_are_read_as_the_analyzer_defines(anonymizer, texts):
    reader = anonymizer.reader
    wanted = WordReader.read(reader, texts)
    found = reader.read(texts)
    assert found.starts.tolist() == wanted.starts.tolist()
    assert found.terms.tolist() == wanted.terms.tolist()
    for place, text in enumerate(texts):  # no text changes how another one is read
        alone = reader.read([text]).terms.tolist()
        assert found.terms[found.starts[place] : found.starts[place + 1]].tolist() == alone


def test_each_document_is_encoded_as_with_its_own_pack(anonymizer, toy_pack, aligned):
    found = anonymizer.read(TEXTS).vectors
    parts = []
    for pack, texts in ((toy_pack, TEXTS[:40]), (aligned, TEXTS[40:])):
        own = Settings.from_preset("document", language=pack.folder)
        parts.append(DocumentAnonymizer.build(own).read(texts).vectors)
    assert np.array_equal(found, np.concatenate(parts))
    translated = np.einsum("ij,ij->i", *(part.astype(float) for part in parts))
    lengths = [np.linalg.norm(part.astype(float), axis=1) for part in parts]
    assert (translated / lengths[0] / lengths[1]).mean() > 0.8


def test_a_pickled_anonymizer_reads_the_same(anonymizer):
    copied = pickle.loads(pickle.dumps(anonymizer))  # noqa: S301 - made here
    assert np.array_equal(copied.read(TEXTS).vectors, anonymizer.read(TEXTS).vectors)


# Releasing


@pytest.fixture
def input_file(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("text\n" + "\n".join(TEXTS), encoding="utf-8")
    return path


def test_a_release_in_two_languages_is_verified_where_both_packs_are(
    toy_pack, aligned, both, input_file, tmp_path, installed
):
    made = release(input_file, tmp_path / "out", language=both)
    wanted = Language("uk,hr", f"sha256:{joint_digest([toy_pack, aligned])}")
    assert made.guarantee.language == wanted
    assert made.guarantee.supplied == ["language"]
    assert (made.guarantee.private, made.guarantee.loss_per_document) == (True, 10)
    terms = (tmp_path / "out" / "vocabulary.txt").read_text(encoding="utf-8").split()
    assert set(terms) <= {*WORDS}
    store.add(toy_pack.folder)
    missing = verify(tmp_path / "out")
    assert missing.verdict == "not checked"
    (check,) = [one for one in missing.checks if one.name == "vectors"]
    assert "a language pack for 'uk,hr' that is not installed (sha256:" in check.detail
    assert verify(tmp_path / "out", language=both).verdict == "verified"
    store.add(aligned.folder)
    assert verify(tmp_path / "out").verdict == "verified"
    other_order = verify(tmp_path / "out", language="hr,uk")
    assert other_order.verdict == "failed"
    assert "another language pack" in "".join(one.detail for one in other_order.checks)


def test_the_language_of_a_document_shows_in_its_own_row_only(both, tmp_path):
    """Releases from the same seed, in which one text is of the one or of the other language."""
    found = []
    for place, text in enumerate((TEXTS[0], TEXTS[55], "")):
        texts = [text if number == 3 else other for number, other in enumerate(TEXTS)]
        pl.DataFrame({"text": texts}).write_parquet(tmp_path / f"{place}.parquet")
        out = tmp_path / f"out{place}"
        made = release(tmp_path / f"{place}.parquet", out, language=both, insecure_seed=5)
        rows = pl.read_parquet(out / "documents.parquet")
        same = {name: (out / name).read_bytes() for name in ("README.txt", "vocabulary.txt")}
        found.append((rows.with_row_index("row").filter(pl.col("row") != 3), same, made))
    for rows, same, made in found[1:]:
        assert rows.equals(found[0][0])
        assert same == found[0][1]
        assert {*made.guarantee.files} == {*found[0][2].guarantee.files}
        assert replace(made.guarantee, files={}) == replace(found[0][2].guarantee, files={})


def test_a_release_by_two_analyzers_is_verified(both, input_file, tmp_path, monkeypatch):
    """As one in English and Japanese: the guarantee names both analyzers."""

    def named(settings, pack, original=prepare._analyzer):
        analyzer = original(settings, pack)
        analyzer.name = {"uk": "fast", "hr": "sudachi 0.6.10 core 20250129"}[pack.code]
        return analyzer

    monkeypatch.setattr(prepare, "_analyzer", named)
    made = release(input_file, tmp_path / "out", language=both)
    assert made.guarantee.analyzer == "fast, sudachi 0.6.10 core 20250129"
    assert verify(tmp_path / "out", language=both).verdict == "verified"
    one = replace(made.guarantee, language=Language("uk", made.guarantee.language.digest))
    assert language_is_stated(made.guarantee)
    assert not language_is_stated(one)


def test_words_of_a_document_may_be_released_too(both):
    synthetic = SynTF(language=both, document_loss=40)
    assert synthetic.fit_transform(TEXTS).shape[0] == len(TEXTS)
    assert set(synthetic.get_feature_names_out()) <= {*WORDS}


def test_what_cannot_be_done_in_several_languages_is_refused(both, toy_pack, second_pack, tmp_path):
    for language, options, message in (
        (f"{toy_pack.folder},{second_pack.folder}", {}, "do not share one space: make an aligned"),
        (f"en,{toy_pack.folder}", {}, "en, uk have different numbers of dimensions"),
        (f"{toy_pack.folder}, {toy_pack.folder}", {}, "two of the language packs are for 'uk'"),
        (both, {"preset": "words"}, "texts in several languages need the document unit"),
        (both, {"codebook": "x.codebook"}, "codebook is for texts in one language"),
        (both, {"encoder": "model2vec:x"}, "encoder is for texts in one language"),
        (both, {"analyzer": "spacy:x"}, "a spaCy pipeline is for one language"),
        ("en,", {}, "'en,' has an empty name of a language pack"),
    ):
        with pytest.raises(SyntfError, match=message):
            SynTF(language=language, **options).fit([])
    with pytest.raises(SyntfError, match="one language pack is needed here, not"):
        prepare.pack_for(Settings.from_preset("document", language=both))


def test_a_sample_in_both_languages_is_readable(both):
    chosen = Settings.from_preset("document", language=both)
    looked_at = sample.look_with(chosen, TEXTS)
    assert (looked_at.known, looked_at.empty) == (1, 0)
    assert sample.language_of(chosen) == "uk,hr"
    assert looked_at.problems("uk,hr") == []


def test_the_service_reads_both_languages_and_has_no_page(anonymizer):
    service = DocumentService(anonymizer)
    assert len(service.draw([TEXTS[0], TEXTS[50]])) == 2
    with pytest.raises(SyntfError, match="the page needs --analyzer fast and one --language"):
        DocumentPlayground(service)


def test_the_command_aligns_a_pack(second_pack, toy_pack, dictionary, tmp_path, monkeypatch):
    arguments = [str(second_pack.folder), "--to", str(toy_pack.folder), "--quiet"]
    arguments += ["--dictionary", str(dictionary), "--out", str(tmp_path / "pack")]
    monkeypatch.setattr("sys.argv", ["syntf", "language", "align", *arguments])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    made = Codebook.of_pack(store.find(tmp_path / "pack"))
    assert share_topics(made, Codebook.of_pack(toy_pack))
