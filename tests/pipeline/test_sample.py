"""A run stops before it releases noise: wrong columns, wrong encodings, other languages."""

import pytest

from syntf import SyntfError, release
from syntf.pipeline import sample
from syntf.text.languages import FUNCTION_WORDS, NAMES, SCRIPTS, guess_language
from syntf.text.tokenizer import Analyzer

ENGLISH = "The bus is late and the driver does not say when it will be at the station."
GERMAN = "Der Bus ist nicht da und der Fahrer sagt nicht, wann er auf dem Bahnhof ist."
SENTENCES = {
    "en": ENGLISH,
    "de": GERMAN,
    "fr": "Le train est en retard et le conducteur ne dit pas quand il sera dans la gare.",
    "es": "El tren no está en la estación y el conductor no dice por qué se retrasa más.",
    "it": "Il treno non è in stazione e il conducente non ci dice che cosa è successo.",
    "pt": "O trem não está na estação e o condutor não diz por que ele foi mais lento.",
    "nl": "De trein is niet op het station en de machinist zegt niet wat er met hem is.",
    "pl": "Pociąg nie jest na stacji i nikt nie wie, że to się stało przez noc.",
    "tr": "Tren istasyonda değil ve bu kadar geç olan bir tren için çok bekledik.",
    "ru": "Поезд опаздывает, и никто не знает, когда он придёт на станцию.",
    "greek": "Το τρένο δεν είναι στον σταθμό και κανείς δεν ξέρει πότε θα έρθει.",
    "arabic": "القطار ليس في المحطة ولا أحد يعرف متى سيصل.",
    "hebrew": "הרכבת לא בתחנה ואף אחד לא יודע מתי היא תגיע.",
    "devanagari": "ट्रेन स्टेशन पर नहीं है और कोई नहीं जानता कि वह कब आएगी।",
    "korean": "기차가 역에 없고 언제 올지 아무도 모릅니다.",
    "japanese": "電車は駅にいないし、いつ来るのか誰も知りません。",
    "chinese": "火车不在车站，没有人知道它什么时候会来。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_languages_are_told_apart(language):
    assert guess_language([SENTENCES[language]] * 6) == language


def test_every_language_has_a_name():
    assert set(NAMES) == {*FUNCTION_WORDS, *SCRIPTS}


@pytest.mark.parametrize("texts", [[], ["", "12 34"], ["hello"], ["xyzzy plugh"] * 40])
def test_too_little_or_no_language_is_not_guessed(texts):
    assert guess_language(texts) is None


def looked_at(texts):
    return sample.look_at(texts, Analyzer(), ["bus", "driver", "station", "late", "say"])


def test_a_readable_sample_has_no_problem():
    found = looked_at([ENGLISH] * 25)
    assert found == sample.Sample(25, 0, 0, 0, 1, 0, "en")
    assert found.problems() == []


def test_a_sample_is_spread_over_all_texts():
    found = looked_at([ENGLISH] * 500 + [""] * 500)
    assert (found.documents, found.empty) == (sample.LARGEST, 0.5)


def test_few_texts_are_never_judged():
    assert looked_at(["123"] * (sample.FEWEST - 1)).problems() == []
    assert looked_at(["123"] * sample.FEWEST).problems() != []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GERMAN, "the texts look German"),
        (SENTENCES["chinese"], "the texts look Chinese"),
        ("4711", "100% of the texts hold numbers and no word: check that --text"),
        ("\N{PARTY POPPER}", "100% of the texts hold no letter and no digit"),
        ("", "100% of the texts hold no letter and no digit .empty cells"),
        ("bus qwx zrt plk", "only 25% of the words are known"),
    ],
)
def test_noise_is_refused_and_nothing_is_written(tmp_path, text, message):
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text"] + [f'"{text}"'] * 30), encoding="utf-8")
    with pytest.raises(SyntfError, match=message) as caught:
        release(path, tmp_path / "out", document_loss=10)
    assert "--accept-coverage" in str(caught.value)
    assert not text or text not in str(caught.value)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["texts.csv"]
    made = release(path, tmp_path / "out", document_loss=10, accept_coverage=True)
    assert made.documents == 30


def test_replaced_bytes_are_a_problem():
    found = looked_at([f"{ENGLISH} caf\ufffd"] * 30)
    assert found.replaced == 1
    assert [problem for problem in found.problems() if "--encoding" in problem]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_advised_for_texts_with_nul_characters(codec):
    misread = ENGLISH.encode(codec).decode("utf-8", "replace")
    found = looked_at([misread] * 30)
    assert found.nul == 1
    (problem, *_) = found.problems()
    assert "--encoding utf-16" in problem
    assert not any("cp1252" in problem for problem in found.problems())
    assert ("NUL characters", "in 100% of the texts") in found.described()


def test_one_text_with_nul_characters_is_no_problem():
    found = looked_at([ENGLISH] * 29 + ["a\0cat"])
    assert found.problems() == []


def test_no_share_of_known_words_is_shown_without_words():
    for texts in ([], ["4711"] * 30, ["\0b\0"] * 30):
        assert ("known words", "no words") in looked_at(texts).described()
    assert ("known words", "0%") in looked_at(["qwx"] * 30).described()
    assert ("known words", "100%") in looked_at(["bus"] * 30).described()


def test_other_languages_are_not_refused_with_vectors_of_ones_own():
    found = looked_at([GERMAN + " bus driver station late say"] * 30)
    assert found.language == "de"
    assert not any("German" in problem for problem in found.problems(None))


def test_shares_of_a_mixed_sample_are_exact():
    texts = [ENGLISH] * 5 + ["12 34"] * 3 + [" ...", ""] + ["qwx caf\ufffd"] * 10
    found = looked_at(texts)
    shares = (found.empty, found.blank, found.numbers, found.replaced)
    assert shares == (15 / 20, 2 / 20, 3 / 20, 10 / 20)
    assert found.described() == [
        ("language", "English"), ("known words", "50%"), ("texts without one", "75%"),
        ("empty texts", "10%"), ("only numbers", "15% of the texts"),
        ("undecodable bytes", "in 50% of the texts"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "known", "words", "notes"),
    [
        (ENGLISH, 4, 4, []),
        ("", 0, 0, []),
        ("bus \ufffd", 1, 1, ["could not be decoded"]),
        ("12 34", 0, 0, ["No word of the text is known"]),
        ("bus qwx zrt", 1, 3, ["Only 33% of the words"]),
        (" ".join([GERMAN] * 5), 5, 80, ["looks German", "Only 6% of the words"]),
    ],
)
def test_a_single_text_gets_notes_on_what_cannot_be_read(text, known, words, notes):
    found = sample.describe_text(text, Analyzer(), ["bus", "driver", "station", "late", "say"])
    assert (found["known"], found["words"]) == (known, words)
    assert len(found["notes"]) == len(notes)
    assert all(part in note for part, note in zip(notes, found["notes"], strict=True))


@pytest.mark.parametrize(("empty", "told"), [(2, False), (3, True)])
def test_many_texts_without_a_known_word_are_told_to_the_owner(tmp_path, empty, told):
    texts = [ENGLISH] * (24 - empty) + ["qwx"] * empty
    assert bool(looked_at(texts).notice()) == told
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text", *(f'"{text}"' for text in texts)]), encoding="utf-8")
    made = release(path, tmp_path / "out", document_loss=10)
    assert any("have no known word" in notice for notice in made.input_notices) == told
