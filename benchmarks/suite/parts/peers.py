"""Other systems that install from PyPI, each in its own environment."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from suite.place import Place
from suite.process import worker
from suite.rows import Row

GROUP = "drawing"


@dataclass(frozen=True)
class Peer:
    """A mechanism of a package: the module that runs it, its arguments, and its file of vectors."""

    key: str
    title: str
    package: str
    work: str
    arguments: tuple[str, ...]
    vectors: str = "glove.txt"


PACKAGES = {
    "mldp-text": ("mldp-text",),
    "pypantera": ("pypantera",),
    "dp-diffractor": ("dp-diffractor",),
    "opendp": ("opendp", "numpy"),
    "diffprivlib": (
        "diffprivlib",
        "scikit-learn<1.8",
    ),  # it imports names that later versions removed
}
"""The packages to install for each system."""

GENSIM = "word2vec.txt"
PEERS = [
    *(
        Peer(f"mldp-{key}", f"{title}, ε = 10", "mldp-text", "peer_mldp",
             (key, "10"), GENSIM)
        for key, title in {
            "multivariate_calibrated": "MultivariateCalibrated", "vickrey": "Vickrey",
            "truncated_gumbel": "TruncatedGumbel", "mahalanobis": "Mahalanobis", "tem": "TEM",
        }.items()
    ),
    Peer("mldp-syntf", "SynTF (synonyms of WordNet, which NLTK downloads)", "mldp-text",
         "peer_mldp_syntf", ("10",), ""),
    *(
        Peer(f"pypantera-{name.lower()}", f"{name}, ε = 10", "pypantera",
             "peer_pypantera", (name, "10"))
        for name in ("SanText", "CusText", "TEM", "CMP")
    ),
    *(
        Peer(f"diffractor-{method.lower()}", f"{method}, ε = 1", "dp-diffractor",
             "peer_diffractor", (method, "1"), GENSIM)
        for method in ("geometric", "TEM")
    ),
    Peer("opendp", "noisy max, ε = 10", "opendp", "peer_opendp", ("10",)),
    Peer("diffprivlib", "Exponential, ε = 10", "diffprivlib", "peer_diffprivlib",
         ("10",)),
]  # fmt: skip


def peers(place: Place) -> list[Row]:
    """Return a row for each mechanism; a package that cannot be installed is listed as missing."""
    missing = {package: install(place, package) for package in PACKAGES}
    return [_row(place, peer, missing[peer.package]) for peer in PEERS]


def install(place: Place, package: str) -> str:
    """Create the environment of a package unless it exists. Return the error, or ''."""
    folder = environment(place, package)
    done = folder / "installed"
    if done.exists():
        return ""
    place.say(f"installing {package}")
    commands = [
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *PACKAGES[package]],
    ]
    for command in commands:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR")]
            return f"could not be installed: {(errors or ['no reason was given'])[-1]}"
    done.touch()
    return ""


def environment(place: Place, package: str) -> Path:
    return place.kept / "peers" / package


def release(place: Place, package: str) -> str:
    """Return the name of a package with its installed version."""
    pattern = f"lib/python*/site-packages/{package.replace('-', '_')}-*.dist-info"
    for path in environment(place, package).glob(pattern):
        return f"{package} {path.name.removesuffix('.dist-info').rpartition('-')[2]}"
    return package


def _row(place: Place, peer: Peer, missing: str) -> Row:
    files = [place.words(name) for name in (peer.vectors, "draws.txt") if name]
    command = worker(
        peer.work, *peer.arguments, *files,
        python=environment(place, peer.package) / "bin" / "python",
    )  # fmt: skip
    return Row(
        f"{GROUP}/peer-{peer.key}", f"{release(place, peer.package)}: {peer.title}", command,
        "kept", place.few, "words",
        env={"OMP_NUM_THREADS": "1", "PYTHONPATH": ""}, missing=missing,
    )  # fmt: skip
