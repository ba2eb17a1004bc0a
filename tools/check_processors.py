"""Test the compiled loops on processors that are not here, under an emulator.

    python tools/check_processors.py [--folder build/processors]

1. 64-bit ARM (aarch64): the loops are compiled for it, the example is released there and here with
   the same seed, and every byte must be the same.
2. x86-64 without AVX-512 (an Intel Haswell): with the loops as they are compiled here.

Both run the tests that compare the loops with their definitions in Python. Debian has the programs:

    dpkg --add-architecture arm64 && apt-get update
    apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static

The folder receives Debian's Python for ARM, the wheels for ARM that pip finds, and a copy of the
package with loops compiled for ARM. Nothing outside the folder changes.
"""

import argparse
import filecmp
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMPILER = "aarch64-linux-gnu-gcc"
ARM, HASWELL = ["qemu-aarch64-static", "-L"], ["qemu-x86_64-static", "-cpu", "Haswell"]
WHEELS = (
    "manylinux_2_28_aarch64", "manylinux_2_24_aarch64", "manylinux_2_17_aarch64",
    "manylinux2014_aarch64",
)  # fmt: skip
DEBIAN = (
    "libbz2-1.0 libc6 libcrypt1 libexpat1 libffi8 libgcc-s1 libgomp1 liblzma5 libpython3.11-dev "
    "libpython3.11-minimal libpython3.11-stdlib libsqlite3-0 libssl3 libstdc++6 libuuid1 "
    "python3.11-minimal zlib1g"
).split()

# Each compares a compiled loop with its definition in Python, bit for bit.
TESTS = (
    "tests/mechanism/test_kernels.py",
    "tests/core/test_drawing.py",
    "tests/text/test_token_table.py",
    "tests/inputs/test_csv_rows.py",
)

# Few words: an emulated processor takes minutes for the table of all.
PRESETS = (("document",), ("words", "--max-size", "300"))


def main() -> None:
    """Check both processors; exit with 1 if a test fails or a byte differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "processors")
    folder = parser.parse_args().folder.resolve()
    missing = [name for name in (COMPILER, ARM[0], HASWELL[0]) if shutil.which(name) is None]
    if missing:
        sys.exit(f"not found: {', '.join(missing)}\n\n{__doc__}")

    python = _debian_python(folder / "root")
    _install_wheels(folder / "site")
    _compile(folder / "root", folder / "src")
    arm = [*ARM, str(folder / "root"), str(python)]
    path = _environment(folder / "src", folder / "site")
    _check_loops(arm, path)
    _compare_releases(arm, path, folder / "releases")
    _test(arm, path, TESTS)

    haswell = [*HASWELL, os.path.realpath(sys.executable)]
    path = _environment(ROOT / "src", Path(sysconfig.get_path("purelib")))
    _check_loops(haswell, path)
    _test(haswell, path, TESTS[:1])


def _environment(*path: Path) -> dict[str, str]:
    """Return the environment of a process that imports from these folders."""
    found = os.pathsep.join(map(str, path))
    return os.environ | {"PYTHONPATH": found, "PYTHONDONTWRITEBYTECODE": "1"}


def _test(run: list[str], environment: dict[str, str], files: tuple[str, ...]) -> None:
    """Run tests with few generated examples each; exit if one fails."""
    options = ["-q", "-p", "no:cacheprovider", "-m", "not slow", "--hypothesis-profile", "short"]
    command = [*run, "-m", "pytest", *options, *files]
    if status := subprocess.run(command, cwd=ROOT, env=environment).returncode:
        sys.exit(status)


def _debian_python(root: Path) -> Path:
    """Unpack Debian's Python 3.11 for ARM, with its headers, and return the program."""
    python = root / "usr" / "bin" / "python3.11"
    if not python.exists():
        packages = root.with_name("debian")
        packages.mkdir(parents=True, exist_ok=True)
        names = [f"{name}:arm64" for name in DEBIAN]
        subprocess.run(["apt-get", "-qq", "download", *names], cwd=packages, check=True)
        for package in sorted(packages.glob("*.deb")):
            subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    return python


def _install_wheels(site: Path) -> None:
    """Install the dependencies, and what the tests need, in the versions of this environment."""
    if (site / "numpy").exists():
        return
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pip = [sys.executable, "-m", "pip"]
    installed = subprocess.run(
        [*pip, "freeze", "--exclude-editable"], capture_output=True, text=True, check=True
    ).stdout
    versions = site.with_name("versions.txt")
    versions.write_text("".join(line for line in installed.splitlines(True) if "@" not in line))
    platforms = [word for name in WHEELS for word in ("--platform", name)]
    subprocess.run(
        [
            *pip, "install", "--quiet", "--target", str(site), *platforms, "--python-version",
            "3.11", "--only-binary=:all:", "--constraint", str(versions),
            *project["dependencies"], "pytest", "hypothesis", "scipy",
        ],
        check=True,
    )  # fmt: skip


def _compile(root: Path, copy: Path) -> None:
    """Copy the package, and compile its loops with the flags of setup.py."""
    shutil.rmtree(copy, ignore_errors=True)
    left_out = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "src" / "syntf", copy / "syntf", ignore=left_out)
    headers = [root / "usr" / "include" / part for part in ("python3.11", "aarch64-linux-gnu")]
    flags = "-O3 -ffp-contract=off -fno-math-errno -fno-trapping-math -shared -fPIC -Wall -Werror"
    for source in sorted((copy / "syntf" / "native").glob("_*.c")):
        command = [COMPILER, *flags.split(), "-DNDEBUG", *(f"-I{header}" for header in headers)]
        out = source.with_suffix(".abi3.so")
        subprocess.run([*command, f"-I{root / 'usr' / 'include'}", str(source), "-o", str(out)],
                       check=True)  # fmt: skip


def _check_loops(run: list[str], environment: dict[str, str]) -> None:
    """Fail where a loop does not load: the tests would silently use Python instead."""
    names = sorted(path.stem for path in (ROOT / "src" / "syntf" / "native").glob("_*.c"))
    program = (
        "import platform; from syntf import native; "
        f"missing = [name for name in {names!r} if native.load(name) is None]; "
        "assert not missing, missing; print('compiled loops on', platform.machine())"
    )
    subprocess.run([*run, "-c", program], env=environment, check=True)


def _compare_releases(run: list[str], environment: dict[str, str], folder: Path) -> None:
    """Release the example here and there with the same seed: every byte must be the same.

    The files are not compressed: other versions of zlib compress the same content differently.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("here", "there"):
        (folder / name).mkdir(parents=True)
    here = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    for preset, *options in PRESETS:
        for name, program, variables in (
            ("here", [sys.executable], here),
            ("there", run, environment),
        ):
            arguments = ["example.csv", "--text", "text", "--keep", "topic", "--preset", preset]
            out = [
                "--insecure-seed",
                "1",
                "--format",
                "mtx",
                "--quiet",
                "--out",
                str(folder / name / preset),
            ]
            subprocess.run(
                [*program, "-m", "syntf", "anonymize", *arguments, *options, *out],
                cwd=ROOT / "src" / "syntf" / "data",
                env=variables | {"SYNTF_CACHE": str(folder / name / "cache")},
                check=True,
            )
        names = sorted(path.name for path in (folder / "here" / preset).iterdir())
        same, *others = filecmp.cmpfiles(
            folder / "here" / preset, folder / "there" / preset, names, shallow=False
        )
        print(f"preset {preset}, the same bytes on both: {', '.join(same)}")
        if any(others):
            sys.exit(f"preset {preset}: these differ or are missing: {others}")


if __name__ == "__main__":
    main()
