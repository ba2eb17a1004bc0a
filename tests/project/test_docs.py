"""Tests of the documentation: links, examples, and the site that MkDocs builds."""

import doctest
import os
import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote

import check_commits
import notebook_page
import pytest
from check_site import faults

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/*.ipynb"),
     ROOT / "src/syntf/data/NOTICE.md"]
)  # fmt: skip
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)(?: +\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def prose(path):
    """Return the text of a page without its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = notebook_page.read(path)
        text = "\n\n".join(
            notebook_page.joined(cell["source"])
            for cell in cells
            if cell["cell_type"] == "markdown"
        )
    return re.sub(r"`[^`\n]*`", "`code`", FENCE.sub("", text))


def anchors(path):
    """Return the ids that GitHub gives to the headings of a page."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    found = []
    for heading in HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        found.append(name if name not in found else f"{name}-{found.count(name)}")
    return found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_to_existing_files_and_headings(path):
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, fragment = link.partition("#")
        target = path.parent / unquote(name) if name else path
        assert target.exists(), link
        if fragment:
            assert unquote(fragment) in anchors(target), link


def test_anchors_are_those_of_github():
    known = anchors(ROOT / "docs" / "meaning.md")
    assert known[:4] == [
        "what-a-loss-means", "one-word-a-factor-on-the-odds", "ten-words-a-document-an-author",
        "ε-at-a-δ",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["api", "method", "parameters", "scikit-learn"])
def test_doctests_of_a_page(name):
    page = ROOT / "docs" / f"{name}.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried >= 5


def test_the_odds_of_which_epsilon_are_computed():
    page = ROOT / "docs" / "which-epsilon.md"
    assert doctest.testfile(str(page), module_relative=False, encoding="utf-8") == (0, 3)


def test_which_epsilon_has_the_figures_of_the_document_unit():
    measured = (ROOT / "docs" / "documents-figures.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "which-epsilon.md").read_text(encoding="utf-8")
    topics, attackers, linkage = (
        dict(re.findall(row, measured, re.MULTILINE))
        for row in (
            r"^\| (\d+) \| (\.\d+ ± \.\d+ \| \.\d+ \| \.\d+)",
            r"^\| (\d+) \| \.\d+ ± \.\d+ \([^)]*\) \| (\.\d+)",
            r"^\| (\d+) \| embedded \| ([\d.]+%)",
        )
    )
    rows = re.findall(
        r"^\| (\d+) \| (\.\d+) \| (\.\d+) \| (\.\d+) \| ([\d.]+%) \|$", page, re.MULTILINE
    )
    assert [row[0] for row in rows] == ["4", "6", "8", "10", "20"]
    for loss, embedded, near, author, found in rows:
        first, _, last = topics[loss].partition(" ± ")
        assert (embedded, near) == (first, last.split(" | ")[2])
        assert (author, found) == (attackers[loss], linkage[loss])


@pytest.mark.parametrize("page", ["docs/trust.md", "SECURITY.md"])
def test_tests_that_a_page_names_exist(page):
    names = {
        path.relative_to(ROOT / "tests").as_posix(): re.findall(
            r"^ *def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        for path in ROOT.glob("tests/**/test_*.py")
    }
    everywhere = {name for found in names.values() for name in found}
    for line in (ROOT / page).read_text(encoding="utf-8").splitlines():
        file = ""
        for path, colons, name in re.findall(r"`([\w/]+\.py)?(::)?(test_\w+)?`", line):
            file = path.removeprefix("tests/") or file
            assert not path or file in names, path
            assert not name or name in (names[file] if colons else everywhere), name


def test_doctests_of_the_tools():
    assert doctest.testmod(notebook_page) == (0, 1)
    assert doctest.testmod(check_commits) == (0, 2)


def test_strangers_path_lists_the_commands_of_its_script_and_takes_less_than_five_minutes():
    page = (ROOT / "docs" / "strangers-path.md").read_text(encoding="utf-8")
    script = (ROOT / "tools" / "strangers_path.sh").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(.+)` \| ([\d.]+) \| ([\d.]+) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == re.findall(r'^step "(.+?)" ', script, re.MULTILINE)
    for column in (1, 2):
        total = sum(float(row[column]) for row in rows)
        last = re.search(r"^\| \*\*together\*\* \| (.+) \| (.+) \|$", page, re.MULTILINE)
        assert float(last[column]) == pytest.approx(total, abs=1)
        assert total < 300


GOOD = (
    '<p id="here">x</p><a href="other.html#there">o</a><img src="a%20b.png"><a href="#here">h</a>'
)


@pytest.fixture
def small_site(tmp_path):
    (tmp_path / "index.html").write_text(GOOD)
    (tmp_path / "other.html").write_text('<h1 id="there">O</h1><a href="https://example.org">e</a>')
    (tmp_path / "a b.png").write_bytes(b"")
    return tmp_path


def test_correct_site_has_no_fault(small_site):
    assert faults(small_site) == []


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ('<a href="gone.html">x</a>', "gone.html does not exist"),
        ('<a href="/gone/">x</a>', "/gone/ does not exist"),
        ('<a href="other.html#gone">x</a>', "no such anchor"),
        ('<a href="#gone">x</a>', "no such anchor"),
        ('<img src="gone.png">', "gone.png does not exist"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css"),
        ('<style>@import "https://example.org/x.css"</style>', "loads"),
        ("<p>It has\n- a list</p>", "should be a list or a table: - a list"),
        ("<p>It has\n| a | table |</p>", "should be a list or a table"),
    ],
)
def test_each_fault_of_a_site_is_reported_once(small_site, broken, message):
    (small_site / "index.html").write_text(GOOD + broken)
    (found,) = faults(small_site)
    assert found.startswith("index.html: ")
    assert message in found


def test_empty_folder_is_a_fault(tmp_path):
    assert len(faults(tmp_path)) == 1


@pytest.fixture
def build(tmp_path, python):
    """A function that builds the site from a copy of the pages, with text added to some of them."""
    for name in ("mkdocs", "material", "mkdocstrings"):
        if find_spec(name) is None:
            pytest.skip(f"needs {name}: pip install 'syntf[docs]'")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("docs", "tools", "src"):
        ignored = shutil.ignore_patterns("*.npy", "*.so", "__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    for path in [*ROOT.glob("*.md"), ROOT / "mkdocs.yml"]:
        shutil.copy(path, copy)

    def run(**changed):
        for name, text in changed.items():
            with (copy / "docs" / f"{name}.md").open("a", encoding="utf-8") as file:
                file.write(text)
        command = [python, "-m", "mkdocs", "build"]  # with --quiet, warnings would not count
        env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        result = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True)
        return result.returncode, result.stderr, copy / "build" / "site"

    return run


@pytest.mark.slow
def test_site_is_built_without_a_fault(build):
    code, log, site = build(trust="\n# Trust\n")  # a page that may be missing
    assert code == 0, log
    assert faults(site) == []
    home = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="trust.html"' in home
    assert 'href="threat-model.html"' in home  # THREAT_MODEL.md, in the README
    assert "KNOWN_LIMITATIONS.md" not in re.findall(r'href="([^"]*)"', home)
    assert 'href="../ledger.html#time-and-memory"' in (
        site / "decisions" / "0009-ledger.html"
    ).read_text(encoding="utf-8")
    tutorial = (site / "tutorial.html").read_text(encoding="utf-8")
    assert tutorial.count("<img ") == 3
    assert ":mod:" not in (site / "api.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("start", ["index.html", "decisions/0009-ledger.html"])
def test_search_works_in_pages_opened_from_a_disk(build, start):
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="pip install 'syntf[integration]'"
    )
    chromium = os.environ.get("SYNTF_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium, or SYNTF_CHROMIUM=<its path>")
    code, log, site = build()
    assert code == 0, log
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / start).as_uri())
        page.locator("[data-md-component=search-query]").fill("neighbourhood mechanism")
        results = page.locator(".md-search-result__link")
        results.first.wait_for(timeout=30_000)
        found = [link.get_attribute("href") for link in results.all()]
        browser.close()
    assert any("method.html" in link or "neighbourhood.html" in link for link in found)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "messages"),
    [
        ({"files": "\n[x](gone.md)\n[y](meaning.md#gone)\n"}, ["gone.md", "#gone"]),
        ({"unlisted": "# A page that is not in the navigation\n"}, ["unlisted.md"]),
    ],
)
def test_broken_links_and_unlisted_pages_stop_the_build(build, changed, messages):
    code, log, _ = build(**changed)
    assert code != 0
    for message in messages:
        assert message in log
