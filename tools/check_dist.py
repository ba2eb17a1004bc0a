"""Build the sdist and the wheel, install each into an empty environment, and try what it installs.

    python tools/check_dist.py

The packages are left in dist/. Each is installed into a virtual environment of its own, in a folder
outside the repository. There the installed program makes the example, anonymises it and verifies
the release. Where the system allows it, these commands run without any network. The wheel is
installed without a compiler, from wheels only, and the size of that environment is printed: more
than LARGEST megabytes fail.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
SESSION = [
    "--version",
    "example",
    "anonymize example.csv --keep topic --shuffle --out release",
    "verify release",
]
LARGEST = 480
"""Megabytes (2**20 bytes) that a base installation may take on the disk: pip and all packages,
without the byte code that Python adds, which the output names beside it."""

WITHOUT_NETWORK = ["unshare", "--user", "--map-root-user", "--net"]


def run(command: list[str], folder: Path, **environment: str) -> str:
    """Run a command and return what it prints; end the program if the command fails."""
    result = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if result.returncode:
        raise SystemExit(f"failed ({result.returncode}): {' '.join(command)}\n{result.stdout}")
    return result.stdout


def build() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist. Return their paths."""
    for old in DIST.glob("syntf-*"):
        old.unlink()
    run([sys.executable, "-m", "build", "--outdir", str(DIST)], ROOT)
    (sdist,), (wheel,) = DIST.glob("syntf-*.tar.gz"), DIST.glob("syntf-*.whl")
    return sdist, wheel


def check_names(sdist: Path, wheel: Path) -> None:
    """Check that the wheel is for every platform, and that it holds what it needs."""
    if not wheel.name.endswith("-py3-none-any.whl"):
        raise SystemExit(f"{wheel.name}: the wheel must be for every platform")
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    for needed in ("py.typed", "data/vectors.npy", "data/example.csv", "serve/static/page.html"):
        if f"syntf/{needed}" not in names:
            raise SystemExit(f"{wheel.name}: {needed} is missing")
    if any(name.startswith("paper/") for name in names):
        raise SystemExit(f"{wheel.name}: paper/ is no part of the product")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    if "src/syntf/data/vectors.npy" not in inside:
        raise SystemExit(f"{sdist.name}: the embedded data are missing")


def without_network() -> list[str]:
    """Return a command that runs another one without a network; empty where none works."""
    try:
        tried = subprocess.run([*WITHOUT_NETWORK, "true"], capture_output=True)
    except OSError:
        return []
    return WITHOUT_NETWORK if tried.returncode == 0 else []


def install(package: Path, folder: Path) -> None:
    """Install a package into the environment `folder`; a wheel without a compiler in reach."""
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    if package.suffix != ".whl":
        run([*command, str(package)], folder)
        return
    run([*command, "--only-binary", ":all:", str(package)], folder, PATH=str(folder / "bin"), CC="")
    byte_code = sum(map(megabytes, folder.rglob("__pycache__")))
    size = megabytes(folder) - byte_code
    print(
        f"{package.name}: a base installation takes {size:.0f} MB on the disk, and {byte_code:.0f} "
        "MB of byte code",
        flush=True,
    )
    if size > LARGEST:
        raise SystemExit(f"{package.name}: a base installation may take {LARGEST} MB at most")


def megabytes(folder: Path) -> float:
    """Return what the files in a folder take on the disk, in units of 2**20 bytes, as du does."""
    found = (path.lstat() for path in folder.rglob("*"))
    sizes = {entry.st_ino: entry.st_blocks * 512 for entry in found}  # count hard links once
    return sum(sizes.values()) / 2**20


def check_installed(package: Path, offline: list[str]) -> None:
    """Install a package into an empty environment and run a session with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = str(folder / "venv" / "bin" / "python")
        install(package, folder / "venv")
        work = folder / "work"
        work.mkdir()
        for words in SESSION:
            print(f"{package.name}: syntf {words}", flush=True)
            said = run(
                [*offline, str(folder / "venv" / "bin" / "syntf"), *words.split()], work,
                SYNTF_CACHE=str(folder / "cache"), PYTHONPATH="",
            )  # fmt: skip
            if (
                words == "--version"
                and package.name.split("-")[1].removesuffix(".tar.gz") not in said
            ):
                raise SystemExit(f"{package.name}: --version prints {said.strip()!r}")
        place = run([python, "-c", "import syntf; print(syntf.__file__)"], work, PYTHONPATH="")
        if not Path(place.strip()).is_relative_to(folder):
            raise SystemExit(f"{package.name}: {place.strip()} was used, not the installed package")


def main() -> None:
    packages = build()
    check_names(*packages)
    offline = without_network()
    for package in packages:
        check_installed(package, offline)
    how = "without a network" if offline else "with a network: unshare is not allowed here"
    print(f"{packages[0].name} and {packages[1].name} install and work ({how})")


if __name__ == "__main__":
    main()
