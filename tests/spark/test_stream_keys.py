"""The key of a stream: the same for a repeated batch, another for everything else."""

from dataclasses import replace
from hashlib import sha256, shake_256

import pytest

from syntf.core.errors import SyntfError
from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.spark.stream_keys import BatchKey, StreamKey

SECRET = bytes(range(32))


@pytest.fixture(scope="module")
def guarantee():
    settings = Settings(vocabulary=["cat", "dog"], length=3, loss=4.0, morphology="lower")
    return Anonymizer.build(settings).guarantee(kept_columns=[])


def test_a_key_is_created_once_for_its_owner_only(tmp_path):
    path = tmp_path / "stream.key"
    made = StreamKey.open(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in tmp_path.iterdir()] == ["stream.key"]
    assert StreamKey.open(path) == made
    assert len(made.secret) == 32
    assert StreamKey.open(tmp_path / "other.key") != made
    assert made.secret.hex() not in repr(made) + repr(made.batch(3))


@pytest.mark.parametrize(
    "content", ["", "a password", "syntf stream key 1\n", f"syntf stream key 1\n{'00' * 31}\n"]
)
def test_a_file_that_is_no_key_is_refused(tmp_path, content):
    path = tmp_path / "stream.key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(SyntfError, match="is not the key of a stream"):
        StreamKey.open(path)
    assert path.read_text() == content


def test_a_key_that_others_can_read_is_refused(tmp_path):
    StreamKey.open(tmp_path / "stream.key")
    (tmp_path / "stream.key").chmod(0o640)
    with pytest.raises(SyntfError, match="can be read by others: run chmod 600"):
        StreamKey.open(tmp_path / "stream.key")


def test_the_key_of_a_batch_is_shake_256_of_secret_number_and_guarantee(guarantee):
    stated = sha256(guarantee.as_json().encode()).digest()
    hashed = SECRET + b"syntf batch 1\0" + b"\x07" + bytes(7) + stated
    found = BatchKey(SECRET, 7).for_guarantee(guarantee)
    assert found == shake_256(hashed).digest(32)


def test_another_batch_or_guarantee_has_another_key(guarantee):
    """The same random bytes are never used by two mechanisms."""
    changed = [guarantee, replace(guarantee, length=4), replace(guarantee, kept_columns=["x"])]
    keys = {
        BatchKey(secret, number).for_guarantee(stated)
        for secret in (SECRET, bytes(32))
        for number in (0, 1, 256)
        for stated in changed
    }
    assert len(keys) == 18
