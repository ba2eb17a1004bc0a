"""Language packs that are built: from files, from spaCy, and for several languages."""

import gzip
import sys
from importlib.util import find_spec

import numpy as np
import pytest

from syntf.core.errors import SyntfError
from syntf.words.packs import build_pack
from syntf.words.topicality import names_something, topical_weights
from syntf.words.vectors import WordVectors
from syntf.words.vocabulary import Vocabulary

RUSSIAN = (
    "дом город река вода день ночь друг школа книга стол окно дверь рука голова время работа "
    "человек женщина ребёнок слово дело жизнь мир война путь земля страна народ утро вечер лето "
    "зима весна осень море гора лес поле дерево цветок птица рыба собака кошка лошадь корова хлеб "
    "молоко сыр мясо яблоко сахар соль чай кофе музыка песня театр кино картина художник врач "
    "больница болезнь здоровье сердце кровь машина поезд корабль самолёт дорога мост улица площадь "
    "рынок магазин деньги цена банк закон суд власть президент министр армия солдат победа игра "
    "команда матч мяч гол спорт газета письмо язык наука учёный университет студент история "
    "дома города реки друзья книги быстро красивый читать два"
).split()


def vector_file(path, words, dimensions=12):
    numbers = np.random.default_rng(3).normal(size=(len(words), dimensions))
    lines = [f"{len(words)} {dimensions}"]
    lines += [
        f"{word} {' '.join(map(repr, row))}"
        for word, row in zip(words, numbers.tolist(), strict=True)
    ]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def lemma_lines(pack):
    return gzip.decompress(pack.path("lemmas").read_bytes()).decode().split("\n")


def test_a_pack_from_files(toy_pack, invented, vectors_file):
    assert toy_pack.lines("words") == invented  # lower case, no "</s>" and no "12"
    assert toy_pack.stop_words == {invented[5], invented[6]}
    assert toy_pack.number_words == {invented[7]}
    shown = toy_pack.lines("vocabulary")
    # a verb, a form of another word, stop words, and a number
    left_out = {invented[1], invented[3], invented[5], invented[6], invented[7]}
    assert shown == [word for word in invented if word not in left_out]
    raw = WordVectors.read(vectors_file)
    table = WordVectors.of_pack(toy_pack)
    assert (table.matrix == raw.matrix[2:]).all()
    rows = [invented.index(word) for word in shown]
    assert toy_pack.path("codebook").read_text() == f"{table.digest} {rows}"
    assert [one.what for one in toy_pack.sources][1:] == ["stop words", "numbers", "lemmas"]
    assert toy_pack.sources[0].origin == "toy.vec"


def test_the_parts_of_a_pack_fit_together(toy_pack, invented):
    table = WordVectors.of_pack(toy_pack)
    assert topical_weights(table).shape == (144,)
    naming = names_something(table)
    assert [invented[row] for row in np.flatnonzero(~naming)] == [invented[1]]
    words = Vocabulary.default(table)
    assert list(words.outputs) == toy_pack.lines("vocabulary")
    assert words.dropped == 0


def test_a_form_has_one_lemma_for_each_part_of_speech(toy_pack, invented):
    lines = lemma_lines(toy_pack)
    assert lines == sorted(set(lines))
    assert [one for one in lines if one.startswith(f"{invented[3]},")] == [
        f"{invented[3]},aux,{invented[4]}",
        f"{invented[3]},noun,{invented[2]}",
    ]
    assert f"{invented[0]}м,noun,{invented[0]}" in lines


def test_building_twice_gives_the_same_pack(toy_pack, vectors_file, pieces, topics, tmp_path):
    options = {"vectors": vectors_file, "licence": "CC0", "topics": topics, **pieces}
    again = build_pack("uk", tmp_path / "again", **options)
    assert again.digest == toy_pack.digest
    with pytest.raises(SyntfError, match="exists already"):
        build_pack("uk", tmp_path / "again", **options)
    fewer = build_pack("uk", tmp_path / "again", words=120, force=True, **options)
    assert len(fewer.lines("words")) == 120


def test_a_failure_leaves_nothing_behind(vectors_file, pieces, tmp_path):
    def failing(vectors, outputs, path):
        raise SyntfError("no topics")

    (tmp_path / "out").mkdir()
    with pytest.raises(SyntfError, match="no topics"):
        build_pack(
            "uk", tmp_path / "out", vectors=vectors_file, topics=failing, force=True, **pieces
        )
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_pack_without_lemmas_shows_every_word(vectors_file, pieces, topics, tmp_path, invented):
    pieces = {**pieces, "lemmas": None}
    pack = build_pack("uk", tmp_path / "out", vectors=vectors_file, topics=topics, **pieces)
    assert pack.lexicon == ""
    assert "lemmas" not in pack.digests
    assert len(pack.lines("vocabulary")) == len(invented) - 3


def test_french_divides_words_at_apostrophes(tmp_path, topics):
    words = ["L'été", "aujourd’hui", "hôpital", "Hôpital", "cafe\u0301", "où", "l'", "e-mail", "2e"]
    words += [f"mot{letter}{other}" for letter in "abcdefghij" for other in "abcdefghij"]
    (tmp_path / "stop.txt").write_text("d'\nqu’\nou\n")
    pack = build_pack(
        "fr", tmp_path / "fr", vectors=vector_file(tmp_path / "cc.fr.vec.gz", words), topics=topics,
        stop_words=str(tmp_path / "stop.txt"),
    )  # fmt: skip
    assert pack.tokenizer == "elision"
    assert pack.lines("words")[:4] == ["hôpital", "café", "où", "motaa"]
    assert {"d", "qu", "ou"} <= pack.stop_words
    other = build_pack(
        "fr", tmp_path / "other", vectors=tmp_path / "cc.fr.vec.gz", topics=topics,
        stop_words=str(tmp_path / "stop.txt"), tokenizer="words",
    )  # fmt: skip
    assert other.lines("words")[:3] == ["l'été", "aujourd'hui", "hôpital"]
    assert "aujourd'hui" not in other.lines("vocabulary")


def test_russian_lemmas_come_from_pymorphy(tmp_path, topics):
    pytest.importorskip("pymorphy3", reason="needs pymorphy3: pip install pymorphy3")
    path = vector_file(tmp_path / "cc.ru.300.vec.gz", RUSSIAN)
    pack = build_pack("ru", tmp_path / "ru", vectors=path, lemmas="pymorphy3", topics=topics)
    lines = lemma_lines(pack)
    assert {"города,noun,город", "друзья,noun,друг", "читать,verb,читать"} <= set(lines)
    shown = set(pack.lines("vocabulary"))
    assert {"город", "друг", "книга"} <= shown
    assert not {"города", "друзья", "читать", "быстро", "красивый"} & shown
    assert "два" in pack.number_words
    assert pack.sources[-1].origin.startswith("pymorphy3 ")


def test_japanese_lemmas_come_from_sudachi(tmp_path, topics):
    pytest.importorskip("sudachipy", reason="needs SudachiPy: pip install '.[japanese]'")
    words = ["試合", "病院", "医師", "走る", "美しい", "サッカー", "東京都知事選挙", "学校"]
    words += [
        f"語{first}{second}"
        for first in "あいうえおかきくけこ"
        for second in "さしすせそたちつてと"
    ]
    path = vector_file(tmp_path / "cc.ja.300.vec.gz", words)
    (tmp_path / "stop.txt").write_text("の\n")
    pack = build_pack(
        "ja", tmp_path / "ja", vectors=path, lemmas="sudachi", topics=topics,
        stop_words=str(tmp_path / "stop.txt"),
    )  # fmt: skip
    assert pack.tokenizer == "sudachi"
    lines = lemma_lines(pack)
    assert {"試合,noun,試合", "走る,verb,走る", "美しい,adj,美しい"} <= set(lines)
    assert not any(one.startswith("東京都知事選挙,") for one in lines)  # Sudachi divides it
    assert {"試合", "病院", "サッカー"} <= set(pack.lines("vocabulary"))
    assert "走る" not in pack.lines("vocabulary")


def test_lemmas_of_simplemma(tmp_path, topics, monkeypatch):
    """German, with a stand-in for the package, which has the same function."""
    pytest.importorskip("spacy", reason="needs spaCy's stop words: pip install '.[spacy]'")

    class Simplemma:
        @staticmethod
        def lemmatize(word, lang):
            if lang != "de":
                raise ValueError(lang)
            return {"häuser": "Haus"}.get(word, word)

    monkeypatch.setitem(sys.modules, "simplemma", Simplemma)
    monkeypatch.setattr("syntf.words.pack_sources.metadata", lambda name: {"Version": "1.1"})
    words = ["Haus", "Häuser", "Straße", "über"] + [
        f"wort{a}{b}" for a in "abcdefghij" for b in "abcdefghij"
    ]
    path = vector_file(tmp_path / "cc.de.300.vec.gz", words)
    options = {"vectors": path, "lemmas": "simplemma", "topics": topics}
    pack = build_pack("de", tmp_path / "de", **options)
    assert "häuser,noun,haus" in lemma_lines(pack)
    assert pack.lines("vocabulary")[:3] == ["haus", "straße", "wortaa"]  # "über" is a stop word
    with pytest.raises(SyntfError, match="simplemma has no lemmas for 'nl'"):
        build_pack("nl", tmp_path / "nl", **options)
    monkeypatch.setitem(sys.modules, "simplemma", None)
    with pytest.raises(SyntfError, match="--lemmas simplemma needs simplemma"):
        build_pack("de", tmp_path / "other", **options)


@pytest.mark.parametrize(
    ("option", "raw", "message"),
    [
        ("lemmas", b"a\tb\n\na\t\tNOUN\n", "line 2 is not a form and a lemma"),
        ("lemmas", None, "cannot read .*none"),
        ("numbers", b"\xff", "cannot read .* as UTF-8"),
        (
            "vectors",
            b"a 1 2\nb 3 4\n",
            "the vectors have 2 usable words, and a language pack needs",
        ),
    ],
)
def test_a_source_that_cannot_be_used_is_named(
    vectors_file, pieces, topics, tmp_path, option, raw, message
):
    path = tmp_path / "none.txt"
    if raw is not None:
        path.write_bytes(raw)
    options = {"vectors": vectors_file, **pieces, option: str(path)}
    with pytest.raises(SyntfError, match=message):
        build_pack("uk", tmp_path / "out", topics=topics, **options)
    assert not (tmp_path / "out").exists()


def test_a_language_that_spacy_does_not_know_needs_a_list(vectors_file, pieces, topics, tmp_path):
    options = {"vectors": vectors_file, "topics": topics}
    with pytest.raises(SyntfError, match="give a file with --stop-words"):
        build_pack("xx", tmp_path / "out", **options)
    pack = build_pack("zz", tmp_path / "out", **options, stop_words=pieces["stop_words"])
    assert pack.number_words == frozenset()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "model", "lemmas", "known"),
    [
        ("fr", "fr_core_news_md", "spacy:fr_core_news_md", {"équipe", "médecin", "ville"}),
        ("ja", "ja_ginza", "sudachi", {"試合", "病院", "情報"}),
    ],
)
def test_a_pack_from_a_real_pipeline(code, model, lemmas, known, tmp_path, topics):
    if find_spec(model) is None:
        pytest.skip(f"{model} is not installed: pip install {model.replace('_', '-')}")
    pack = build_pack(
        code, tmp_path / code, vectors=f"spacy:{model}", lemmas=lemmas, words=3000, topics=topics
    )
    words = pack.lines("words")
    assert len(words) == 3000
    assert not any("'" in word for word in words)
    assert known <= set(pack.lines("vocabulary"))
    assert model in pack.sources[0].origin
