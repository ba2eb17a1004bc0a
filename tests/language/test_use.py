"""Releases, estimators and verification with a language pack."""

import json

import numpy as np
import pytest
from toy_language import WORDS

from syntf import SynTF, release
from syntf.cli import app as cli
from syntf.core.errors import SyntfError
from syntf.language import store
from syntf.packs.build import build_pack
from syntf.pipeline import sample
from syntf.pipeline.settings import Settings
from syntf.privacy.guarantee import Language
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader
from syntf.vectors.word_vectors import WordVectors
from syntf.verification.verify import verify

TEXTS = [f"{WORDS[place]}, {WORDS[place + 1].upper()}; {WORDS[place + 2]}." for place in range(30)]


@pytest.fixture
def input_file(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("text\n" + "\n".join(f'"{text}"' for text in TEXTS), encoding="utf-8")
    return path


def test_words_are_found_by_the_lemmas_stop_words_and_numbers_of_the_pack(toy_pack):
    analyzer = Analyzer(pack=toy_pack)
    assert analyzer.candidates(f"{WORDS[0]}м".upper()) == (WORDS[0], f"{WORDS[0]}м")
    assert analyzer.candidates(WORDS[5]) == analyzer.candidates(WORDS[7].upper()) == ()
    assert analyzer.candidates("the") == ("the", "the")
    reader = WordReader(analyzer, toy_pack.lines("words"))
    text = f"{WORDS[0].upper()}М, {WORDS[5]} {WORDS[3].capitalize()}-{WORDS[7]}"
    assert reader.read([text]).terms.tolist() == [0, 3]


@pytest.mark.parametrize("preset", ["document", "words"])
def test_a_release_with_a_pack_is_verified_where_the_pack_is(
    toy_pack, input_file, tmp_path, installed, preset
):
    made = release(input_file, tmp_path / "out", preset=preset, language=toy_pack.folder)
    guarantee = made.guarantee
    assert guarantee.language == Language("uk", f"sha256:{toy_pack.digest}")
    assert guarantee.supplied == ["language"]
    assert guarantee.private
    terms = (tmp_path / "out" / "vocabulary.txt").read_text(encoding="utf-8").split()
    assert set(terms) <= {*WORDS}
    found = verify(tmp_path / "out")
    assert found.verdict == "not checked"
    (check,) = [one for one in found.checks if one.name == "vectors"]
    assert "a language pack for 'uk' that is not installed (sha256:" in check.detail
    assert verify(tmp_path / "out", language=toy_pack.folder).verdict == "verified"
    store.add(toy_pack.folder)
    assert verify(tmp_path / "out").verdict == "verified"


def test_another_pack_of_the_same_language_does_not_verify(
    toy_pack, vectors_file, pieces, input_file, tmp_path, installed
):
    other = build_pack(
        "uk", tmp_path / "other", vectors=str(vectors_file), words=120, licence="CC0", **pieces
    )
    release(input_file, tmp_path / "out", language=toy_pack.folder)
    found = verify(tmp_path / "out", language=other.folder)
    assert found.verdict == "failed"
    assert "another language pack" in "".join(one.detail for one in found.checks)


def test_the_estimator_takes_a_language(toy_pack):
    synthetic = SynTF(language=toy_pack.folder)
    counts = synthetic.fit_transform(TEXTS)
    assert counts.shape[0] == len(TEXTS)
    assert set(synthetic.get_feature_names_out()) <= {*WORDS}
    assert synthetic.guarantee_.language.code == "uk"


def test_similar_words_have_the_same_topic(toy_pack):
    """With a large loss, documents on one syllable are released as words that begin with it."""
    synthetic = SynTF(language=toy_pack.folder, document_loss=10)
    texts = [" ".join(WORDS[12 * group + 1 : 12 * group + 5]) for group in range(2, 12)]
    synthetic.fit_transform(texts)
    same = [
        label.split(", ")[0][:2] == text[:2]
        for label, text in zip(synthetic.labels_, texts, strict=True)
    ]
    assert np.mean(same) >= 0.8


def test_the_language_is_suggested_and_never_chosen(toy_pack, installed):
    russian = "Поезд опаздывает, и никто не знает, когда он придёт на станцию."
    ukrainian = "Поїзд не на станції, і ніхто не знає, що з ним та як це було."
    english = sample.look_at([russian] * 25, Analyzer(), WORDS)
    (problem,) = english.problems("en")
    assert problem.startswith("the texts look Russian, and the known words are English: build")
    store.add(toy_pack.folder)
    found = sample.look_at([ukrainian] * 25, Analyzer(pack=toy_pack), WORDS)
    assert "add --language uk" in found.problems("en")[0]
    assert not any("look" in problem for problem in found.problems("uk"))
    assert sample.language_of(Settings(language="uk")) == "uk"


def test_vectors_without_a_word_of_the_texts_stop_the_run(toy_pack, tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("text\n" + "the cat sat on the mat\n" * 30)
    with pytest.raises(SyntfError, match="the texts look English, and the known words are"):
        release(path, tmp_path / "out", language=toy_pack.folder)
    path.write_text("text\n" + "qwx zxv\n" * 30)
    with pytest.raises(SyntfError, match="100% of the texts have no known word"):
        release(path, tmp_path / "out", language=toy_pack.folder)


def test_settings_that_do_not_fit_a_pack_are_refused(toy_pack):
    with pytest.raises(SyntfError, match="a language pack has word vectors of its own"):
        Settings(language="fr", vectors="glove.txt")
    with pytest.raises(SyntfError, match="synsets are English words"):
        SynTF(language=toy_pack.folder, synsets=True, loss=4).fit([])
    with pytest.raises(SyntfError, match="language must be the code or the folder"):
        Settings(language="")


def test_the_same_sources_give_the_same_pack(toy_pack, vectors_file, pieces, tmp_path):
    again = build_pack("uk", tmp_path / "again", vectors=str(vectors_file), licence="CC0", **pieces)
    assert again.digest == toy_pack.digest
    with pytest.raises(SyntfError, match="exists already"):
        build_pack("uk", tmp_path / "again", vectors=str(vectors_file), **pieces)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lemmas": "missing.tsv"}, "no file of lemmas at missing.tsv"),
        ({"stop_words": "missing.txt"}, "no file of stop words at missing.txt"),
        ({"vectors": "missing.vec"}, "no vector file at missing.vec"),
        ({"vectors": "spacy:no_such_model"}, "no spaCy pipeline 'no_such_model' is installed"),
        ({"vectors": "navec:missing.tar"}, "navec"),
    ],
)
def test_sources_that_cannot_be_read_are_named(vectors_file, pieces, tmp_path, options, message):
    pytest.importorskip("spacy")
    chosen = {"vectors": str(vectors_file), **pieces, **options}
    with pytest.raises(SyntfError, match=message):
        build_pack("uk", tmp_path / "pack", **chosen)
    assert list(tmp_path.iterdir()) == []


def test_a_bad_line_of_lemmas_is_named(vectors_file, pieces, tmp_path):
    bad = tmp_path / "lemmas.tsv"
    bad.write_text("one two three\n")
    with pytest.raises(SyntfError, match="line 1 is not a form and a lemma"):
        build_pack(
            "uk", tmp_path / "pack", vectors=str(vectors_file), **{**pieces, "lemmas": str(bad)}
        )


def test_elided_stop_words_are_left_out(vectors_file, pieces, tmp_path):
    stops = tmp_path / "stop.txt"
    stops.write_text("б'\nпро\n", encoding="utf-8")
    chosen = {**pieces, "stop_words": str(stops), "tokenizer": "elision"}
    pack = build_pack("uk", tmp_path / "pack", vectors=str(vectors_file), **chosen)
    assert pack.stop_words == {"б'", "б", "про"}
    analyzer = Analyzer(pack=pack)
    reader = WordReader(analyzer, ["б", WORDS[0]])
    texts = [f"Б’{WORDS[0]} б'{WORDS[0].upper()}"]
    assert list(analyzer.read(texts)) == [["Б", WORDS[0], "б", WORDS[0].upper()]]
    assert reader.read(texts).terms.tolist() == [1, 1]


def test_a_pack_reads_full_width_and_decomposed_words(toy_pack):
    reader = WordReader(Analyzer(pack=toy_pack), ["abc", "й", "ガス"])
    texts = ["ＡＢＣ", "и\u0306 И\u0306", "ｶﾞｽ", "يوم שלום"]
    assert [part.tolist() for part in np.split(*_parts(reader.read(texts)))] == [
        [0],
        [1, 1],
        [2],
        [3],
    ]


def _parts(documents):
    return documents.terms, documents.starts[1:-1]


def test_too_few_words_are_refused(pieces, tmp_path):
    path = tmp_path / "few.vec"
    path.write_text("ба 1 2\nку 2 1\n", encoding="utf-8")
    with pytest.raises(SyntfError, match="have 2 usable words"):
        build_pack("uk", tmp_path / "pack", vectors=str(path), **pieces)


def test_vectors_of_gensim_make_the_same_words(vectors_file, pieces, tmp_path):
    gensim = pytest.importorskip("gensim", reason="pip install 'syntf[integration]'")
    loaded = gensim.models.KeyedVectors.load_word2vec_format(str(vectors_file))
    pack = build_pack("uk", tmp_path / "pack", vectors=loaded, **pieces)
    assert WordVectors.of_pack(pack).words == WORDS


def test_the_commands_build_add_and_list_packs(
    vectors_file, pieces, tmp_path, installed, monkeypatch, capsys
):
    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["syntf", "language", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, capsys.readouterr().out

    options = [
        word
        for name, value in {"vectors": str(vectors_file), **pieces}.items()
        for word in (f"--{name.replace('_', '-')}", value)
    ]
    out = str(tmp_path / "pack")
    code, text = run("build", "uk", *options, "--licence", "CC0", "--out", out, "--json")
    assert code == 0
    digest = json.loads(text)["digest"]
    assert run("add", out, "--json")[0] == 0
    listed = json.loads(run("list", "--json")[1])["packs"]
    assert [pack["language"] for pack in listed] == ["en", "uk"]
    assert listed[1]["digest"] == digest
    assert run("add", out)[0] == 2
