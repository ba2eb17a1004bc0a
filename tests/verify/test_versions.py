"""A version verifies its own releases, and every 0.3 verifies every 0.3."""

import os
import shutil
from pathlib import Path

import polars as pl
import pytest

from syntf import __version__
from syntf.privacy.guarantee import FORMAT
from syntf.release.folder import draft, read_release, write_release
from syntf.release.report import VERSIONS
from syntf.release.verify import NOT_CHECKED, verify
from syntf.rows import build, draw, guarantee
from syntf.settings import PRESETS, Settings
from syntf.words.language import embedded_pack

FIXTURES = Path(__file__).with_name("fixtures")
RELEASES = sorted(FIXTURES.glob("*/*"))


def test_there_is_a_release_of_every_preset_and_version():
    """Whoever changes the version or a sentence reads make_fixtures.py and VERSIONS first."""
    assert __version__ in VERSIONS
    assert {path.name for path in FIXTURES.iterdir()} == set(VERSIONS)
    for version in VERSIONS:
        assert {path.name for path in (FIXTURES / version).iterdir()} == set(PRESETS)


@pytest.mark.parametrize("folder", RELEASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_releases_of_all_versions_are_verified(folder):
    result = verify(folder)
    assert result.ok, result.checks
    release = read_release(folder)
    assert (release.guarantee.format, release.guarantee.version) == (FORMAT, folder.parent.name)
    assert release.guarantee.documents == len(release.documents) == release.counts.shape[0]
    assert not release.guarantee.private


def test_counts_of_another_release_are_found(tmp_path):
    """With the embedded data, too: a fixture that passes for any reason would be worth nothing."""
    folder = shutil.copytree(FIXTURES / __version__ / "document", tmp_path / "release")
    (folder / "README.txt").write_text((folder / "README.txt").read_text().replace("10.00", "0.10"))
    assert verify(folder).verdict == "failed"


def test_a_language_pack_in_a_folder_is_asked_for(tmp_path):
    pack = tmp_path / "pack"
    shutil.copytree(embedded_pack().folder, pack, copy_function=os.symlink)
    rows = build(Settings.of("words", language=str(pack), length=10, max_size=50))
    drawn = draw(rows.scheme(3), rows.encode(pl.Series(["a cat", "", "the bus"])))
    with draft(tmp_path / "release") as new:
        promised = guarantee(rows, drawn.schemes, documents=3)
        write_release(new, drawn, pl.DataFrame(), promised)
    result = verify(tmp_path / "release")
    assert result.verdict == "not checked"
    assert "give it by --language" in result.with_status(NOT_CHECKED)[0].detail
    assert verify(tmp_path / "release", language=str(pack)).ok
    assert verify(tmp_path / "release", language="fr").verdict == "not checked"
    assert not verify(tmp_path / "release", language="en").ok
