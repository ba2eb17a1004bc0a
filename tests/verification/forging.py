"""Play a forger: change a release, and recompute its digests and its checksum."""

from dataclasses import replace

from syntf.releases import folder as release_folder
from syntf.verification.guarantee_file import read_guarantee
from syntf.verification.result import FAILED


def status(result):
    return {check.name: check.status for check in result.checks}


def failed(result):
    """The names of the checks that failed."""
    assert not result.verified
    assert result.verdict == "failed"
    return [check.name for check in result.with_status(FAILED)]


def stated(folder):
    return read_guarantee((folder / "guarantee.json").read_bytes()).guarantee


def forge(folder, *, files=None, **changed):
    """Other fields, with digests of the files as they are and the checksum recomputed."""
    (folder / "guarantee.json").rename(folder.parent / "old.json")
    guarantee = read_guarantee((folder.parent / "old.json").read_bytes()).guarantee
    named = release_folder.digests(folder) if files is None else files
    guarantee = replace(guarantee, files=named, **changed)
    (folder / "guarantee.json").write_text(guarantee.as_json())
    return guarantee
