"""Write the manifest of the embedded language pack, English, again.

    python tools/build_manifest.py

Run this after any file in src/syntf/data has changed: the manifest holds the digests of the files,
and the guarantee of every release records the digest of the manifest.
"""

from pathlib import Path

from syntf.core.files import sha256_of
from syntf.language.pack import LEMMINFLECT, LanguagePack, Source

DATA = Path(__file__).parent.parent / "src" / "syntf" / "data"
FILES = {
    "words": "words.txt",
    "vectors": "vectors.npy",
    "vocabulary": "vocabulary.txt",
    "topical": "topical.npy",
    "codebook": "codebook.zip",
    "stop_words": "function_words.txt",
    "numbers": "number_words.txt",
}
SOURCES = [
    Source("words, vectors, vocabulary, topical", "GloVe 6B, 100 dimensions", "PDDL 1.0"),
    Source("codebook", "WordNet 3.0 and GloVe 6B", "WordNet 3.0 licence"),
    Source("stop words", "writeprints 0.2.1", "MIT"),
    Source("numbers", "written for syntf", "Apache-2.0"),
    Source("lemmas", "lemminflect 0.2.3, not in the pack", "MIT"),
]


def main() -> None:
    files = {role: (name, sha256_of(DATA / name)) for role, name in FILES.items()}
    pack = LanguagePack(DATA, "en", "words", LEMMINFLECT, SOURCES, files, "0.2.0", "1.0.0")
    pack.write_manifest()
    print(f"digest {pack.digest}")


if __name__ == "__main__":
    main()
