"""Make the pictures of the documentation from the running program: terminal, report, web page.

python tools/screenshots.py [FOLDER]

The bundled example is anonymised and evaluated in a temporary folder. Terminal sessions become SVG
files. Chromium takes pictures of the report and the web page, in both themes. If Chromium is not
installed, these pictures are left out, with a message.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from rich.text import Text

IMAGES = Path(__file__).parent.parent / "docs" / "images"
COLUMNS = 88
SYNTF = [sys.executable, "-m", "syntf"]
SESSIONS = {
    "terminal": [
        "syntf example",
        "syntf anonymize example.csv --keep topic --shuffle --out release",
        "syntf explain 'Why was the evening bus removed?'",
    ],
    "bounds": ["syntf bounds"],
    "evaluate": [
        "syntf evaluate example.csv --text text --label topic --author author --runs 3 --out proof",
    ],
    "verify": ["syntf verify release"],
}
SVG = """<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
 font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
"""The template of rich without its title and its font, which would be loaded from the network."""


def terminal(name: str, commands: list[str], work: Path, images: Path) -> None:
    """Write an SVG file of a terminal in which these commands were run."""
    env = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    console = Console(record=True, width=COLUMNS, file=open(os.devnull, "w"))  # noqa: SIM115
    for number, command in enumerate(commands):
        console.print(Text("\n" * (number > 0) + "$ " + command, style="bold"), soft_wrap=False)
        result = subprocess.run(
            [*SYNTF, *shlex.split(command)[1:]], cwd=work, env=env, capture_output=True, text=True
        )
        if result.returncode:
            sys.exit(f"{command} failed: {result.stderr.strip()}")
        console.print(Text.from_ansi(result.stdout.rstrip("\n")))
    svg = console.export_svg(title=" ", theme=SVG_EXPORT_THEME, code_format=SVG, unique_id=name)
    (images / f"{name}.svg").write_text(
        "\n".join(line.rstrip() for line in svg.splitlines()) + "\n", encoding="utf-8"
    )
    print(f"{name}.svg")


def photograph(address: str, picture: Path, size: tuple[int, int], *, dark: bool = False) -> None:
    """Save a picture of a page, as Chromium shows it."""
    with tempfile.TemporaryDirectory() as profile:
        command = [
            _chromium() or "", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={profile}", "--virtual-time-budget=5000",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            f"--window-size={size[0]},{size[1]}", f"--screenshot={picture}", address,
        ]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    print(picture.name)


def page(images: Path) -> None:
    """Take pictures of the page of `syntf serve`: in both themes, and as wide as a phone."""
    command = [*SYNTF, "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            line = next((text for text in server.stdout if "http://" in text), "")
            if not (address := re.search(r"http://[\w.\[\]:]+", line)):
                print("no picture of the page: syntf serve does not start")
                return
            photograph(address[0], images / "page-light.png", (1280, 1000))
            photograph(address[0], images / "page-dark.png", (1280, 1000), dark=True)
            photograph(address[0], images / "page-phone.png", (500, 1000))
        finally:
            server.terminate()


def _chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def main(images: Path) -> None:
    images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for name, commands in SESSIONS.items():
            terminal(name, commands, work, images)
        if _chromium() is None:
            print("no pictures of the report and the page: apt-get install chromium")
            return
        for kind, name in (("release", "report"), ("proof", "report-evaluated")):
            report = work / kind / "report.html"
            if report.exists():
                photograph(report.as_uri(), images / f"{name}.png", (1100, 1500))
                photograph(report.as_uri(), images / f"{name}-dark.png", (1100, 1500), dark=True)
            else:
                print(f"no picture {name}: syntf wrote no {kind}/report.html")
    help_page = subprocess.run([*SYNTF, "serve", "--help"], capture_output=True)
    if help_page.returncode == 0:
        page(images)
    else:
        print("no picture of the page: pip install 'syntf[serve]'")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
