"""Several language packs in one release: what is recorded of them, and how their words differ.

*Guarantee.* A person names the packs, in order, and the names and digests are public. Which pack
reads a document is decided from that document alone, as a part of encoding it. Nothing but the
randomised answer of a document depends on it.
"""

from collections.abc import Sequence
from hashlib import sha256

from syntf.core.errors import SyntfError
from syntf.language.pack import LanguagePack

SEPARATOR = ","
"""What stands between the names of packs, as in ``en,fr``."""


def joint_code(packs: Sequence[LanguagePack]) -> str:
    """Return the codes of packs as one name, such as ``en,fr``."""
    return SEPARATOR.join(pack.code for pack in packs)


def joint_digest(packs: Sequence[LanguagePack]) -> str:
    """Return the digest of a pack, or one digest of several packs in this order."""
    if len(packs) == 1:
        return packs[0].digest
    return sha256("\n".join(pack.digest for pack in packs).encode()).hexdigest()


def marked(words: Sequence[str], code: str) -> list[str]:
    """Return the words of a further language, told from words of the same spelling.

    >>> marked(["chat"], "fr")
    ['chat [fr]']
    """
    return [f"{word} [{code}]" for word in words]


def refuse_one_language_twice(packs: Sequence[LanguagePack]) -> None:
    """Raise SyntfError if two packs are for the same language."""
    codes = [pack.code for pack in packs]
    twice = next((code for code in codes if codes.count(code) > 1), None)
    if twice is not None:
        raise SyntfError(f"two of the language packs are for {twice!r}: name one pack for each")
