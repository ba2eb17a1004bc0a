"""Guess the language of many texts together, from their letters and their function words.

This is for the owner of the texts, who may have chosen the wrong column or file. It is made for
some hundred texts at once; a single sentence can be guessed wrongly.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

FUNCTION_WORDS = {
    "en": "the of and to in is that it for was on are with as at be this have from not by you",
    "de": "der die und das ist nicht mit ein eine für auf den von zu im sich auch dem wird ich es",
    "fr": "le la les et des est dans une pour que qui sur pas au du avec ce ne par je vous nous",
    "es": "el los las una que por con para está del como más pero sus se lo al y es muy ya no",
    "it": "il che di non per una sono con del della gli più nel anche ho è si ma mi ci lo dei",
    "pt": "que não uma com para os dos por mais em como foi são ao da do muito você mas às pelo",
    "nl": "het een van en niet dat op zijn met voor ook maar bij naar wordt aan ik je er deze",
    "sv": "och att det som en på är inte för av jag har till med var om ett den men de vi kan",
    "da": "og det at en er ikke på til som af for jeg har med de den der vi et kan var om fra",
    "no": "og det er ikke på til som av for jeg har med de den vi et kan var om fra men så også",
    "fi": "ja on ei se että hän oli mutta kun niin ovat tai joka myös minä olen tämä sen kuin",
    "pl": "nie się na że jest do to jak ale po co za od tak przez czy są był może tylko dla",
    "cs": "se na že je to jako ale po do pro by si tak jsou být když jsem nebo které bylo už",
    "tr": "bir ve bu için çok ile daha gibi ama ne kadar olarak olan var değil ben sonra mi",
    "ro": "și nu este în de cu la pe un că mai din pentru ce sunt care au dar fost sau nu-i",
    "hu": "az hogy nem és egy is meg csak de van ez el már volt mint még vagy akkor kell",
    "ru": "и в не на что я с он как это по но из у за так же от для бы",
    "uk": "і в не на що я з він як це та до за від але є про було та й",
    "bg": "и на да в се не за от е че с по като са ще това към или до",
    "id": "yang dan di ini itu untuk dengan tidak dari dalam akan pada ke saya ada juga bisa",
}
"""Frequent function words of languages that are written in Latin or Cyrillic letters."""

NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian",
    "pt": "Portuguese", "nl": "Dutch", "sv": "Swedish", "da": "Danish", "no": "Norwegian",
    "fi": "Finnish", "pl": "Polish", "cs": "Czech", "tr": "Turkish", "ro": "Romanian",
    "hu": "Hungarian", "id": "Indonesian", "ru": "Russian", "uk": "Ukrainian", "bg": "Bulgarian",
    "cyrillic": "written in Cyrillic letters",
    "greek": "Greek", "arabic": "written in Arabic letters", "hebrew": "Hebrew",
    "devanagari": "written in Devanagari", "thai": "Thai", "korean": "Korean",
    "japanese": "Japanese", "chinese": "Chinese",
}  # fmt: skip

CODES = {
    "cyrillic": ("ru", "uk", "bg", "sr", "mk", "be", "kk", "mn"), "greek": ("el",),
    "arabic": ("ar", "fa", "ur"), "hebrew": ("he",), "devanagari": ("hi", "mr", "ne"),
    "thai": ("th",), "korean": ("ko",), "japanese": ("ja",), "chinese": ("zh",),
}  # fmt: skip
"""The codes of languages that are written in a script, the most spoken one first."""

SCRIPTS = {
    "cyrillic": "\u0400-\u052f", "greek": "\u0370-\u03ff\u1f00-\u1fff",
    "arabic": "\u0600-\u06ff\u0750-\u077f", "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f", "thai": "\u0e00-\u0e7f",
    "korean": "\uac00-\ud7af\u1100-\u11ff", "japanese": "\u3040-\u30ff",
    "chinese": "\u4e00-\u9fff\u3400-\u4dbf",
}  # fmt: skip
"""Letters that decide the language, or at least that it is not English."""

ALL_CODES = frozenset(code for codes in CODES.values() for code in codes)

FEWEST_WORDS = 40
"""Fewer words than this say too little."""
FEWEST_FUNCTION_WORDS = 0.05
"""Share of function words below which words are no sentences of that language."""

_WORD = re.compile(r"[^\W\d_]+")


@cache
def _letters_of_scripts() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(f"[{letters}]") for name, letters in SCRIPTS.items()}


@cache
def _languages_of_words() -> Mapping[str, list[str]]:
    """Return the languages of every function word."""
    found: dict[str, list[str]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words.split():
            found.setdefault(word, []).append(language)
    return found


def is_language(guessed: str, code: str) -> bool:
    """Tell whether a guess, a language or a script, may be the language with this code.

    >>> is_language("cyrillic", "uk"), is_language("fr", "fr-CA"), is_language("fr", "en")
    (True, True, False)
    """
    base = code.partition("-")[0]
    return base in CODES.get(guessed, (guessed,)) or base not in {*FUNCTION_WORDS, *ALL_CODES}


def guess_language(texts: Iterable[str]) -> str | None:
    """Return a key of :data:`NAMES`, or None if the texts do not tell.

    >>> guess_language(["Der Zug ist nicht da und ich warte auf dem Bahnhof mit den Kindern."] * 5)
    'de'
    >>> guess_language(["The train is late and I am waiting for it at the station."] * 5)
    'en'
    >>> guess_language(["12", "34"])
    """
    words: Counter[str] = Counter()
    for text in texts:
        words.update(_WORD.findall(text.lower()))
    letters: Counter[str] = Counter()
    found: Counter[str] = Counter()
    scripts, languages_of = _letters_of_scripts(), _languages_of_words()
    for word, times in words.items():
        letters["all"] += times * len(word)
        if not word.isascii():
            for script, pattern in scripts.items():
                letters[script] += times * len(pattern.findall(word))
        for language in languages_of.get(word, ()):
            found[language] += times
    script, share = max(((name, letters[name]) for name in SCRIPTS), key=lambda pair: pair[1])
    count = words.total()
    if script == "cyrillic" and share * 2 > letters["all"]:
        language = max(("ru", "uk", "bg"), key=lambda code: found[code])
        often = count >= FEWEST_WORDS and found[language] >= FEWEST_FUNCTION_WORDS * count
        return language if often else script
    if share * 2 > letters["all"]:
        return "japanese" if letters["japanese"] and script == "chinese" else script
    if letters["japanese"] * 5 > letters["all"]:
        return "japanese"
    if count < FEWEST_WORDS or not found:
        return None
    language, times = found.most_common(1)[0]
    return language if times >= FEWEST_FUNCTION_WORDS * count else None
