"""Lower case and punctuation as JStylo treats them, before it splits a text into words."""

import re
import string
from bisect import bisect_left
from collections import defaultdict
from functools import cache

LONG_LINE = 2_000
"""Lines of this many characters are stripped by another algorithm: replacing is quadratic."""

_TOKEN = re.compile("[\\S\x85\xa0\u2007\u202f]+")  # not the blanks of Java, which differ from \s
_LINE_END = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


def lowercase(text: str) -> str:
    """Lowercase each character by itself, so that the text keeps its length.

    >>> lowercase("ΟΣ"), "ΟΣ".lower(), [len(text) for text in (lowercase("İ"), "İ".lower())]
    ('οσ', 'ος', [1, 2])
    """
    return text.replace("Σ", "σ").replace("İ", "i").lower()


def strip_punctuation(text: str) -> str:
    """Remove the punctuation around words, by the rule of JStylo.

    Each line is processed by itself, token by token. If a token has punctuation at its edges, the
    token is replaced by its inner part wherever it occurs in the line, even inside other words.

    >>> strip_punctuation("'Well, (so-so)...'"), strip_punctuation("b. a.b.c -- x--y")
    ('Well so-so', 'b a.bc  xy')
    """
    return "\n".join(map(_strip_line, _LINE_END.split(text)))


def _strip_line(line: str) -> str:
    tokens = _TOKEN.findall(line)
    if len(line) >= LONG_LINE:
        return _strip_long_line(line, tokens)
    for token in tokens:
        if (bare := token.strip(string.punctuation)) != token:
            line = line.replace(token, bare)
    return line


def _strip_long_line(line: str, tokens: list[str]) -> str:
    """Apply the replacements of :func:`_strip_line` to each token separately.

    Blanks are never replaced, so no replacement crosses the boundary of a token.
    """
    steps = [(t, bare) for t in tokens if (bare := t.strip(string.punctuation)) != t]
    times = defaultdict[str, list[int]](list)
    for time, (token, _) in enumerate(steps):
        times[token].append(time)

    def next_step(token: str, time: int) -> int:
        """Return the first step from `time` on that changes the token."""
        marks = [i for i, character in enumerate(token) if character in string.punctuation]
        parts = {token[i:j] for i in marks for j in range(i + 1, len(token) + 1)}
        parts |= {token[j : i + 1] for i in marks for j in range(i)}
        candidates = (times[part] for part in parts if part in times)
        later = (at[i] for at in candidates if (i := bisect_left(at, time)) < len(at))
        return min(later, default=len(steps))

    @cache
    def stripped(token: str) -> str:
        marks = sum(character in string.punctuation for character in token)
        if marks * len(token) > len(steps):  # trying all steps is quicker than looking up all parts
            for old, new in steps:
                token = token.replace(old, new)
            return token
        time = -1
        while (time := next_step(token, time + 1)) < len(steps):
            token = token.replace(*steps[time])
        return token

    return _TOKEN.sub(lambda match: stripped(match[0]), line)
