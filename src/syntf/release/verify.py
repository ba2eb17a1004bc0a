"""Verify a release that was received, without its texts and without trusting its sender.

The public data, the settings and the released answers decide everything else. So the receiver
builds the method again, derives the lists of answers, their probabilities and the loss, counts the
answers again, writes every text again with the same writer, and compares. Nothing is written.

Nobody can prove that the answers were drawn, once and with fresh random bits, or where the sender's
data come from. The result lists such statements as unverifiable. Bytes that another writer of the
same values could have chosen, in a Parquet or zip file, are not looked at.
"""

import os
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntf import __version__
from syntf.core.errors import SyntfError, TableError, printable
from syntf.core.exact import shown
from syntf.core.files import sha256_of
from syntf.core.progress import stage
from syntf.privacy.guarantee import SEEDED, Guarantee, UnknownFormat
from syntf.release import folder as files
from syntf.release.folder import ARRAYS, DOCUMENTS, FORMATS, GUARANTEE, RESERVED, Release
from syntf.release.report import VERSIONS
from syntf.rows import Drawn, Rows, Scheme, build, guarantee, recorded
from syntf.settings import FAST, SETTINGS, Settings

Status = Literal["passed", "FAILED", "not checked", "unverifiable"]
PASSED: Status = "passed"
FAILED: Status = "FAILED"
NOT_CHECKED: Status = "not checked"
UNVERIFIABLE: Status = "unverifiable"
"""Nothing in a release shows whether the sender's statement is true."""

SOURCES = ("operating system", "derived from a secret key per document", SEEDED)
"""Where random bits may come from, in the words of the guarantee: one machine, Spark, tests."""

LARGEST_GUARANTEE, LARGEST_VOCABULARY = 1 << 22, 1 << 26
"""Bytes of these files at most."""
MOST_DOCUMENTS, MOST_TERMS = 1 << 26, 1 << 18
"""What a release may have at most, so that a hostile one cannot ask for unlimited work."""


class NotChecked(SyntfError):
    """A check cannot be made with this version, or with what the receiver has."""


@dataclass(frozen=True)
class Check:
    """One line of the result."""

    name: str
    status: Status
    detail: str


@dataclass
class VerificationResult:
    """The outcome of all checks.

    checks : what was checked, what was not, and what cannot be.
    guarantee : what the release promises; None unless it could be read.
    """

    checks: list[Check] = field(default_factory=list)
    guarantee: Guarantee | None = None

    @property
    def verdict(self) -> Literal["verified", "failed", "not checked"]:
        """The outcome in one word; "not checked" if no check failed but some were not made."""
        if self.with_status(FAILED):
            return "failed"
        return "not checked" if self.with_status(NOT_CHECKED) else "verified"

    @property
    def ok(self) -> bool:
        """Whether every check was made and passed."""
        return self.verdict == "verified"

    def with_status(self, status: Status) -> list[Check]:
        """Return the checks that have a status."""
        return [check for check in self.checks if check.status == status]


def verify(
    folder: str | PathLike[str],
    *,
    vectors: Any = None,
    codebook: str | PathLike[str] | None = None,
    language: str | PathLike[str] | None = None,
) -> VerificationResult:
    """Verify the release in a folder.

    Parameters
    ----------
    folder : the release.
    vectors, codebook : the word vectors and the codebook that the sender supplied, if any.
    language : the language pack of the release, if it is not installed under its code.

    Returns
    -------
    VerificationResult
        It is true only if every check was made and passed. A release of an unknown format or
        version is "not checked".
    """
    result = VerificationResult()
    work = _Verification(Path(folder), vectors, codebook, language, result)
    with stage("verifying", len(work.steps)) as advance:
        for name, step in work.steps.items():
            status, detail = _outcome(step)
            result.checks.append(Check(name, status, detail))
            advance(1)
            if status != PASSED:
                break
        else:
            for name in work.texts:
                result.checks.append(Check(name, *_outcome(partial(work.check_text, name))))
            result.checks += work.unverifiable()
    made = {check.name for check in result.checks}
    missing = "needs a check that failed or was not made"
    result.checks += [Check(name, NOT_CHECKED, missing) for name in work.steps if name not in made]
    return result


def _outcome(step: Callable[[], str]) -> tuple[Status, str]:
    """Make a check of an untrusted release, whatever its files do to the libraries that read it."""
    try:
        return PASSED, step()
    except (NotChecked, UnknownFormat) as error:
        return NOT_CHECKED, str(error)
    except (SyntfError, TableError) as error:
        return FAILED, str(error)
    except (Exception, pl.exceptions.PanicException) as error:
        return FAILED, f"cannot be read ({type(error).__name__})"


class _Verification:
    """The steps of a verification. Each relies on what those before it found."""

    def __init__(
        self, path: Path, vectors: Any, codebook: Any, language: Any, result: VerificationResult
    ) -> None:
        self.path, self.result = path, result
        self.given = {"vectors": vectors, "codebook": codebook}
        self.language = language
        self.texts: dict[str, str] = {}
        self.steps: dict[str, Callable[[], str]] = {
            GUARANTEE: self.check_guarantee,
            "files": self.check_files,
            "documents": self.check_documents,
            "method": self.check_method,
            "answers": self.check_answers,
            "loss and public data": self.check_loss,
            "counts": self.check_counts,
        }

    def check_guarantee(self) -> str:
        """Read the guarantee. Whether its values are true is for the other checks."""
        self.raw = _plain(self.path / GUARANTEE, LARGEST_GUARANTEE).decode()
        self.stated = self.result.guarantee = Guarantee.from_json(self.raw)
        version = printable(self.stated.version)
        if self.stated.version not in VERSIONS or self.stated.kind != "rows":
            raise NotChecked(
                f"syntf {__version__} does not know releases of this kind by syntf {version}: "
                "check it with that version"
            )
        self.release = Release(self.path, self.stated)
        return f"format {self.stated.format}, by syntf {version}"

    def check_files(self) -> str:
        """Check that the folder has the files of one release and no other, each with its digest."""
        stated = self.stated.files
        self.listed = files.TOPICS in stated
        named = files.file_names(self.release.format, listed=self.listed)
        if {*stated, GUARANTEE} != named:
            raise SyntfError(f"{GUARANTEE} does not name the files of one release")
        for name in sorted({path.name for path in self.path.iterdir()} ^ named):
            fault = "is missing" if name in named else "is not part of the release"
            raise SyntfError(f"{printable(name)} {fault}")
        for name in sorted(stated):
            if not stat.S_ISREG(os.lstat(self.path / name).st_mode):
                raise SyntfError(f"{name} is not a regular file")
            if stated[name] != f"sha256:{sha256_of(self.path / name)}":
                raise SyntfError(f"{name} was changed: its digest is not that in {GUARANTEE}")
        return f"{len(named)} and no other, each with its digest"

    def check_documents(self) -> str:
        """Check columns and number of the documents."""
        path, own = self.path / DOCUMENTS, RESERVED if self.listed else RESERVED[:1]
        columns = list(pl.read_parquet_schema(path))
        if columns != [own[0], *self.stated.kept_columns, *own[1:]]:
            raise SyntfError(f"{DOCUMENTS} has other columns than {GUARANTEE} says")
        self.number = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
        if self.number != self.stated.documents or self.number > MOST_DOCUMENTS:
            raise SyntfError(f"{DOCUMENTS} has another number of documents than {GUARANTEE} says")
        self.own = pl.read_parquet(path, columns=list(own), glob=False)
        if not self.own[own[0]].equals(pl.Series(np.arange(self.number, dtype=np.int32))):
            raise SyntfError(f"{DOCUMENTS} does not number the documents in order")
        return f"{self.number:,}, and no column that was not kept"

    def check_method(self) -> str:
        """Build the method again from the settings, and from data that the receiver has."""
        stated, chosen = self.stated, dict(self.stated.settings)
        for name, value in chosen.items():  # a hostile release must not name files to be read
            is_path = name == "language" and not str(value).replace("-", "").isalnum()
            if SETTINGS[name].kind in ("file", "object") or is_path:
                raise SyntfError(f"the setting {name} names a file")
        own_words = "vocabulary" in stated.supplied or "fit_vocabulary" in chosen
        for name in stated.supplied:
            if name in self.given:
                if self.given[name] is None:
                    raise NotChecked(f"its sender supplied {name}: give the file by --{name}")
                chosen[name] = self.given[name]
            elif name == "language" and "language" not in chosen:
                if self.language is None:
                    raise NotChecked("its sender supplied a language pack: give it by --language")
                chosen[name] = self.language
            elif name == "vocabulary":
                chosen[name] = self.terms()
            elif name == "stop_words":
                chosen[name] = frozenset[str]()  # no text is read, so any will do
            elif name == "encoder":
                chosen.setdefault(name, _no_encoder)
        self.settings = Settings(**chosen)
        needed: dict[str, Any] = {"analyzer": FAST, "stop_words": None, "encoder": None}
        if self.language is not None:
            needed["language"] = self.language
        if own_words:
            needed |= {"vocabulary": self.terms(), "fit_vocabulary": None, "synsets": False}
        try:
            self.rows: Rows = build(self.settings.changed(**needed))
        except SyntfError as error:
            raise NotChecked(f"the method cannot be built here: {error}") from None
        if own_words:
            words = stated.public["vocabulary"]
            public = words.origin == "supplied" and self.settings.fit_vocabulary is None
            origin: Literal["supplied", "private"] = "supplied" if public else "private"
            self.rows.public["vocabulary"] = replace(self.rows.public["vocabulary"], origin=origin)
        return "built again from the settings and public data"

    def terms(self) -> list[str]:
        """Return the terms of vocabulary.txt, the output words that the sender supplied."""
        raw = _plain(self.path / files.VOCABULARY, LARGEST_VOCABULARY)
        terms = raw.decode().split("\n")[:-1]
        if len(terms) > MOST_TERMS:
            raise SyntfError(f"{files.VOCABULARY} has more than {MOST_TERMS:,} terms")
        return terms

    def check_answers(self) -> str:
        """Check that each document has answers of its list, and derive the sharpened list."""
        first = rest = self.rows.scheme(self.number)
        if first.listed != self.listed:
            raise SyntfError("it lists answers where none are, or none where they are")
        if not self.listed:
            self.drawn = Drawn(_no_answers(first), np.zeros(0, dtype=bool), first, first)
            return "not listed: the counts show them"
        flags, column = self.own["pilot"], self.own["answer"]
        if flags.dtype != pl.Boolean or flags.null_count() or flags.sum() != first.pilot:
            raise SyntfError(f"the pilot must have {first.pilot:,} documents")
        if column.dtype != pl.List(pl.Int32) or not (column.list.len() == first.draws).all():
            raise SyntfError(f"a document does not have {first.draws:,} answers")
        flat = column.explode().drop_nulls()
        if len(flat) != self.number * first.draws:
            raise SyntfError("an answer is missing")
        pilot = flags.to_numpy()
        answers = flat.to_numpy().astype(np.int64).reshape(-1, first.draws)
        _check_range(answers[pilot], first)
        if first.pilot and first.sharpen is not None:
            rest = first.sharpen(answers[pilot])
        _check_range(answers[~pilot], rest)
        self.drawn = Drawn(answers, pilot, first, rest)
        if self.own["released_topic"].to_list() != self.drawn.names():
            raise SyntfError("a released topic is not that of the released answers")
        return "each document has answers of its list"

    def check_loss(self) -> str:
        """Make the guarantee again, from what was derived here, and compare all of it."""
        stated = self.stated
        if stated.entropy not in SOURCES:
            raise NotChecked("the source of random bits has a name that is not known here")
        settings = recorded(self.settings)
        if stated.version != __version__:  # which may lack settings of this one
            settings = {name: settings[name] for name in settings if name in stated.settings}
        self.derived = replace(
            guarantee(
                self.rows, self.drawn.schemes, documents=self.number, shuffled=stated.shuffled,
                kept_columns=stated.kept_columns, source=stated.entropy,
                documents_per_author=stated.documents_per_author,
            ),
            version=stated.version, settings=settings, supplied=self.settings.supplied,
            files=dict(sorted(stated.files.items())),
        )  # fmt: skip
        for each in fields(Guarantee):
            if getattr(stated, each.name) != getattr(self.derived, each.name):
                raise SyntfError(f"{each.name} is not what follows from the settings and the files")
        if self.derived.as_json() != self.raw:
            raise SyntfError(f"{GUARANTEE} is not what syntf writes for these values")
        self.texts = files.texts(self.drawn, self.documents(), self.derived, self.release.format)
        loss = shown(self.derived.loss_per_document, 2)
        return f"a document loses at most {loss}; every digest was derived again"

    def documents(self) -> pl.DataFrame:
        """Return the documents for the texts, which need no more than the names of columns."""
        if self.release.format == "csv":
            return self.release.documents
        return pl.read_parquet(self.path / DOCUMENTS, n_rows=0, glob=False)

    def check_counts(self) -> str:
        """Check that the counts are the sums of the profiles of the released answers."""
        scheme = self.drawn.rest
        expected = self.drawn.counts() if self.listed else None
        most = self.number * min(scheme.draws, len(scheme.terms))
        most = most if expected is None else expected.nnz
        path, format = self.path / FORMATS[self.release.format], self.release.format
        if format == "npz":
            _check_archive(path, self.number, most)
        elif format == "parquet":
            if pl.scan_parquet(path, glob=False).select(pl.len()).collect().item() > most:
                raise SyntfError(f"{path.name} has more rows than the answers give")
        elif path.stat().st_size > 64 + most * (
            32 + 2 * max(len(t.encode()) for t in scheme.terms)
        ):
            raise SyntfError(f"{path.name} is larger than the answers give")
        counts = files.read_counts(self.path, format, self.number, scheme.terms)
        counts.check_format(full_check=True)
        if counts.shape != (self.number, len(scheme.terms)) or counts.dtype != np.int32:
            raise SyntfError(f"{path.name} does not hold whole numbers for each document and term")
        if expected is not None:
            counts.sort_indices()
            parts = ("indptr", "indices", "data")
            if not all(np.array_equal(getattr(counts, p), getattr(expected, p)) for p in parts):
                raise SyntfError("a row is not the sum of the words of its answers")
            return "each row is the sum of the words of its answers"
        totals = np.asarray(counts.sum(axis=1, dtype=np.int64)).ravel()
        if counts.data.min(initial=1) < 1 or (totals != scheme.draws).any():
            raise SyntfError(f"a row does not have {scheme.draws:,} words")
        return f"each row has {scheme.draws:,} words"

    def check_text(self, name: str) -> str:
        """Compare a text with what this program writes for the same values."""
        path, expected = self.path / name, self.texts[name].encode()
        if path.stat().st_size != len(expected) or path.read_bytes() != expected:
            raise SyntfError("it differs from what syntf writes for these values")
        return "the same when written again"

    def unverifiable(self) -> Iterator[Check]:
        """Return what the sender states and nothing in the release confirms."""
        stated = self.derived
        said = {
            "draws": "that the answers were drawn from these probabilities, once, with fresh "
            f"random bits ({stated.entropy}), and that no more was released of these texts",
            "texts": "how the texts were read: analyzer, word forms, stop words, weights",
        }
        if len(stated.composition) > 1:
            said["pilot"] = "that it was chosen at random, whatever the texts are"
        if stated.kept_columns:
            said["kept columns"] = (
                f"that they are what they are called: {', '.join(stated.kept_columns)}"
            )
        if stated.shuffled:
            said["order"] = "that the documents were shuffled"
        if stated.documents_per_author is not None:
            said["authors"] = (
                f"that at most {stated.documents_per_author:,} of each were chosen, at random"
            )
        claimed = [name for name, data in stated.public.items() if data.origin != "embedded"]
        if claimed:
            said["public data"] = f"who made it, and from what: {', '.join(claimed)}"
        return (Check(name, UNVERIFIABLE, printable(detail)) for name, detail in said.items())


def _plain(path: Path, largest: int) -> bytes:
    """Return the bytes of an untrusted file, if it is a regular file of a likely size."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_size > largest:
        raise SyntfError(f"{path.name} is not a regular file of at most {largest:,} bytes")
    return path.read_bytes()


def _no_encoder(texts: list[str]) -> None:
    """Stand for the encoder that the sender supplied. No text is read."""


def _no_answers(scheme: Scheme) -> NDArray[np.int64]:
    return np.zeros((0, scheme.draws), dtype=np.int64)


def _check_range(answers: NDArray[np.int64], scheme: Scheme) -> None:
    if answers.size and not (answers.min() >= 0 and answers.max() < len(scheme.names)):
        raise SyntfError("a released answer is not in the list of its document")


def _check_archive(path: Path, documents: int, entries: int) -> None:
    """Check that an archive holds the arrays of a sparse matrix, of a likely size."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    if sorted(member.filename for member in members) != sorted(f"{name}.npy" for name in ARRAYS):
        raise SyntfError(f"{path.name} holds other arrays than those of a sparse matrix")
    if any(member.file_size > 8 * max(documents + 1, entries) + 256 for member in members):
        raise SyntfError(f"{path.name} has more entries than the answers give")
