"""Make a bundle that installs syntf on a machine without a network.

    python tools/make_bundle.py [--extras serve,files] [--out dist]

The bundle is one .tar.gz with the wheels of syntf and of everything that it and the extras need, a
requirements.txt with their digests, and a README.txt with the commands that install them. It serves
the operating system, the processor and the version of Python that it was made with, and its name
says which.
"""

import argparse
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXTRAS = "serve,files"

README = """\
syntf {version} with everything that it needs, for Python {python} on {platform}
{line}
Nothing is downloaded. In this folder, run:

    python{python} -m venv environment
    environment/bin/pip install --no-index --find-links wheels \\
      --require-hashes --requirement requirements.txt
    environment/bin/syntf --version

This installs syntf with the extras {extras} and checks the digest of
each wheel. For the smallest installation, which makes and verifies releases, replace
the second command by:

    environment/bin/pip install --no-index --find-links wheels syntf
"""


def make_bundle(out: Path, extras: str = EXTRAS) -> Path:
    """Write the bundle into a folder and return its path."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    platform = sysconfig.get_platform()
    with tempfile.TemporaryDirectory() as name:
        wheels = Path(name, "wheels")
        subprocess.run(
            [sys.executable, "-m", "pip", "wheel", "--quiet", "--wheel-dir", str(wheels),
             f"{ROOT}[{extras}]"],
            check=True,
        )  # fmt: skip
        files = sorted(wheels.glob("*.whl"))
        version = next(path for path in files if path.name.startswith("syntf-")).name.split("-")[1]
        title = f"syntf-{version}-bundle-python{python}-{platform}"
        readme = README.format(
            version=version, python=python, platform=platform, line="=" * 60, extras=extras
        )
        Path(name, "README.txt").write_text(readme, encoding="utf-8")
        lines = [requirement(path) for path in files]
        Path(name, "requirements.txt").write_text("".join(lines), encoding="utf-8")
        out.mkdir(exist_ok=True, parents=True)
        bundle = out / f"{title}.tar.gz"
        with tarfile.open(bundle, "w:gz", compresslevel=1) as archive:  # wheels are packed already
            for part in ("README.txt", "requirements.txt", "wheels"):
                archive.add(Path(name, part), f"{title}/{part}")
    return bundle


def requirement(wheel: Path) -> str:
    """Return the line of requirements.txt that pins a wheel by its digest."""
    name, version = wheel.name.split("-")[:2]
    return f"{name}=={version} --hash=sha256:{sha256(wheel.read_bytes()).hexdigest()}\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--extras", default=EXTRAS, help="extras, separated by commas")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder to write to")
    options = parser.parse_args()
    bundle = make_bundle(options.out, options.extras)
    print(f"{bundle} ({bundle.stat().st_size / 2**20:.0f} MB)")


if __name__ == "__main__":
    main()
