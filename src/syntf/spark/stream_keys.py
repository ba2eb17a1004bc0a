"""The key of a stream, in a file: a batch that Spark repeats repeats its draws.

Structured Streaming calls the function of ``foreachBatch`` again for a batch that failed, also
after a restart from the checkpoint. With a fresh key, each call would draw again for the documents
of the batch. So a stream has a secret that outlives the process. The key of a batch follows from
the secret, the number of the batch and the guarantee.

*Guarantee.* Two calls have the same key only if batch and guarantee are the same, and the draws
from each list of answers have a key of their own (:func:`syntf.spark.random_bytes.list_key`), so
no random bytes are used by two mechanisms. Under the same key, a document with the same id
and text has the same draws, unless a changed text of the pilot has led to another list. Batches
have independent draws: the loss of a document that occurs in several of them adds up. Whoever has
the file and a release can test guesses of texts, so the file must stay secret until it is deleted.
"""

import os
from dataclasses import dataclass, field
from hashlib import sha256, shake_256
from pathlib import Path

from syntf.core import entropy
from syntf.core.errors import SyntfError
from syntf.privacy.guarantee import Guarantee
from syntf.spark.random_bytes import KEY_BYTES

BATCH_DOMAIN = b"syntf batch 1\0"
"""Separate the keys of batches from all other uses of the secret."""

_HEADER = "syntf stream key 1\n"


@dataclass(frozen=True)
class BatchKey:
    """The key of one batch of a stream, for the argument `key` of ``anonymize``."""

    secret: bytes = field(repr=False)
    number: int

    def for_guarantee(self, guarantee: Guarantee) -> bytes:
        """Return the key of the run that draws for this batch under this guarantee."""
        number = self.number.to_bytes(8, "little")
        stated = sha256(guarantee.as_json().encode()).digest()
        return shake_256(self.secret + BATCH_DOMAIN + number + stated).digest(KEY_BYTES)


@dataclass(frozen=True)
class StreamKey:
    """The secret of a stream.

    Examples
    --------
    >>> from syntf.spark import StreamKey, anonymize
    >>> key = StreamKey.open("/secure/mails.key")  # doctest: +SKIP
    >>> def release(batch, number):
    ...     with anonymize(batch, id="message_id", key=key.batch(number)) as made:
    ...         made.data.write.mode("overwrite").parquet(f"counts/batch={number}")
    >>> mails.writeStream.foreachBatch(release).start()  # doctest: +SKIP
    """

    secret: bytes = field(repr=False)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "StreamKey":
        """Read the secret from a file on the driver; create the file if it does not exist.

        Only the owner of the file may read it. Use one file for one stream with one checkpoint,
        and delete the file when the stream has ended.
        """
        file = Path(path)
        if not file.exists():
            _create(file)
        if os.name == "posix" and file.stat().st_mode & 0o077:
            raise SyntfError(f"{file} can be read by others: run chmod 600 on it")
        content = file.read_bytes().decode("ascii", "replace")
        digits = content.removeprefix(_HEADER).removesuffix("\n")
        try:
            secret = bytes.fromhex(digits)
        except ValueError:
            secret = b""
        if content != f"{_HEADER}{secret.hex()}\n" or len(secret) != KEY_BYTES:
            raise SyntfError(f"{file} is not the key of a stream: name a file that does not exist")
        return cls(secret)

    def batch(self, number: int) -> BatchKey:
        """Return the key of a batch, by the number that ``foreachBatch`` passes."""
        return BatchKey(self.secret, number)


def _create(file: Path) -> None:
    """Write a new secret; if another process has just created the file, keep that one."""
    draft = file.with_name(f".{file.name}.{entropy.system(8).hex()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(f"{_HEADER}{entropy.system(KEY_BYTES).hex()}\n".encode())
            stream.flush()
            os.fsync(stream.fileno())
        os.link(draft, file)  # fails if the file exists
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
