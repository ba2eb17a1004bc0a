"""The page in a real browser: from a file to a download, by mouse, keyboard, phone and dark."""

import re
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from syntf import read_release, verify
from tests.serve.conftest import CSV

pytestmark = pytest.mark.slow

ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
DESK, PHONE = {"width": 1100, "height": 900}, {"width": 390, "height": 800}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(scope="module")
def program(start):
    with start() as running:
        yield running


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install playwright"
    )
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install --no-install-recommends chromium")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield made
        made.close()


@pytest.fixture
def opened(browser, program):
    """Open the page; an error of its script or a request to another host fails the test."""
    contexts, wrong = [], []

    def open_page(size=DESK, url=None, **options):
        address = url or program.url
        context = browser.new_context(viewport=size, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        refused = "Failed to load resource"  # an answer that the page shows as an error
        page.on(
            "console",
            lambda said: (
                said.type == "error" and refused not in said.text and wrong.append(said.text)
            ),
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda one: one.url.startswith(address) or wrong.append(one.url))
        page.goto(address)
        page.wait_for_selector("#answers li")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong


@pytest.fixture(scope="session")
def axe():
    package = pytest.importorskip(
        "axe_playwright_python", reason="needs axe: pip install axe-playwright-python"
    )
    (script,) = Path(package.__file__).parent.rglob("axe*.js")
    return script.read_text(encoding="utf-8")


def choose(page, content, name="mails.csv"):
    page.set_input_files(
        "#file", {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    )
    page.wait_for_selector("#expect li")


def settled(page):
    """Wait until what was chosen has been looked at."""
    with page.expect_response(lambda answer: answer.url.endswith("/check")):
        pass
    page.wait_for_timeout(50)


def until(page, function, argument=None):
    """Wait for a condition. The page forbids what Playwright's own wait_for_function does."""
    for _ in range(400):
        if page.evaluate(function, argument):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{function} {argument}")


def focused(page, id):
    until(page, "id => document.activeElement.id === id", id)


def shown(page, id, text):
    until(page, "([id, text]) => $(id).innerText.includes(text)", [id, text])


def download(page, folder):
    with page.expect_download() as started:
        page.click("#download")
    started.value.save_as(folder / "release.zip")
    zipfile.ZipFile(folder / "release.zip").extractall(folder)
    return started.value.suggested_filename, folder / "release"


def test_from_a_file_to_a_download(opened, program, tmp_path):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    content = CSV.replace("topic", "the 'topic'")
    choose(page, content, "my mails.csv")
    assert page.inner_text("#file-status") == "my mails.csv: 25 documents, 3 columns"
    assert page.input_value("#text") == "text"
    assert "looks like authors" in page.inner_text("#columns li:has([value=author])")
    page.check("""[name=keep][value="the 'topic'"]""")
    page.locator("summary", has_text="Limit the loss").click()
    page.select_option("#author", "author")
    page.fill("#author_loss", "40")
    settled(page)
    assert page.inner_text("#author-hint") == "At most 4 documents of each author."
    page.locator("summary", has_text="command").click()
    page.click("#copy")
    command = page.evaluate("navigator.clipboard.readText()")
    page.click("#run")
    page.wait_for_selector("#result:not([hidden])")
    assert "12 documents were released" in page.inner_text("#facts")
    assert "13 were left out" in page.inner_text("#facts")
    assert "the 'topic'" in page.inner_text("#made-notices")
    report = page.frame_locator("#report").locator("h1")
    assert report.inner_text() == "What this release promises"
    name, folder = download(page, tmp_path)
    assert name == "my mails-release.zip"
    assert verify(folder).ok
    assert sorted(set(read_release(folder).documents["the 'topic'"])) == [
        "books",
        "health",
        "transport",
    ]
    assert not [path for path in program.folder.rglob("my mails.csv")]

    (tmp_path / "my mails.csv").write_text(content)
    arguments = shlex.split(command)
    assert arguments[0] == "syntf"
    subprocess.run(
        [sys.executable, "-m", *arguments], cwd=tmp_path, check=True, capture_output=True
    )
    same = read_release(tmp_path / "my mails-release")
    assert same.documents.columns == read_release(folder).documents.columns
    assert same.guarantee.composition == read_release(folder).guarantee.composition

    page.click("#restart")
    page.wait_for_selector("#drop")
    for _ in range(100):
        if not any(path.is_file() for path in program.folder.rglob("*")):
            break
        page.wait_for_timeout(50)
    assert not any(path.is_file() for path in program.folder.rglob("*"))


def test_a_dropped_file_is_taken(opened):
    page = opened()
    page.evaluate(
        """content => {
            const data = new DataTransfer();
            data.items.add(new File([content], "dropped.csv"));
            const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true});
            document.querySelector("#drop").dispatchEvent(drop);
        }""",
        CSV,
    )
    page.wait_for_selector("#expect li")
    assert "dropped.csv: 25 documents" in page.inner_text("#file-status")


def test_the_keyboard_is_enough(opened):
    page = opened()
    for _ in range(2):  # the file, the example
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "example"
    page.keyboard.press("Enter")
    focused(page, "columns-title")
    seen = []
    while "run" not in seen:
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.value"))
        assert len(seen) < 40
        if seen[-1] == "topic":
            page.keyboard.press("Space")
        if seen[-1] == "loss":
            before = page.inner_text("#expect")
            page.keyboard.press("Home")
            until(page, "before => $('expect').innerText !== before", before)
    assert [one for one in seen if one in ("text", "shuffle", "document", "loss", "format")] == [
        "text", "shuffle", "document", "loss", "format",
    ]  # fmt: skip
    page.keyboard.press("Enter")
    focused(page, "result-title")
    assert "a loss of 0.5 at most" in page.inner_text("#facts")
    assert "columns topic" in page.inner_text("#made-notices")


def test_the_slider_says_what_to_expect(opened):
    page = opened()
    choose(page, CSV)
    shares = []
    for loss in ("1", "4", "10", "20"):
        page.fill("#loss", loss)
        settled(page)
        said = page.inner_text("#expect")
        shares.append(re.search(r"released in ([\w .]+ %)", said)[1])
        assert page.inner_text("#loss-value") == loss
    assert "2 topics" in said
    assert float(shares[0].split()[0]) < 60 < float(shares[1].split()[0])
    page.check("[value=words]")
    shown(page, "expect", "125 words")
    assert page.input_value("#loss") == "8"
    assert "for a whole document this excludes nothing" in page.inner_text("#expect")
    page.check("[value=paper]")
    assert not page.is_visible("#loss")


def test_errors_stand_beside_their_fields(opened):
    page = opened()
    page.set_input_files("#file", {"name": "photo.png", "mimeType": "", "buffer": b"x"})
    page.wait_for_selector("#error-file:not([hidden])")
    assert "cannot tell the format of photo.png" in page.text_content("#error-file")
    page.locator("summary", has_text="How the file is read").is_visible()
    page.fill("#input_format", "lines")
    page.click("#again")
    page.wait_for_selector("#expect li")
    assert not page.is_visible("#error-file")
    choose(page, CSV)
    page.locator("summary", has_text="Limit the loss").click()
    page.select_option("#author", "author")
    page.fill("#author_loss", "5")
    page.locator("summary", has_text="Limit the loss").click()  # closed again
    page.click("#run")
    focused(page, "author")
    assert "below the loss of 10 of a single document" in page.text_content("#error-author")
    assert page.get_attribute("#author", "aria-invalid") == "true"


def test_a_run_can_be_cancelled_and_leaves_nothing(opened, program, tmp_path):
    page = opened()
    path = tmp_path / "large.csv"
    path.write_text(CSV + "The bus to the hospital is late again,transport,ann\n" * 1_000_000)
    page.set_input_files("#file", path)
    page.wait_for_selector("#expect li")
    assert "about" in page.inner_text("#file-status")
    page.click("#run")
    page.wait_for_selector("#progress:not([hidden])")
    assert page.evaluate("document.activeElement.id") == "cancel"
    page.keyboard.press("Enter")
    page.wait_for_selector("#error-run:not([hidden])")
    assert page.text_content("#error-run") == "cancelled: nothing was released"
    assert page.is_enabled("#run")
    assert {one.name for one in program.folder.rglob("*") if one.is_file()} == {"large.csv"}


@pytest.mark.parametrize(
    "options",
    [{}, {"color_scheme": "dark"}, {"size": PHONE}, {"forced_colors": "active"}],
    ids=["light", "dark", "phone", "forced colours"],
)
def test_everybody_can_read_every_state(opened, axe, options):
    page = opened(**options)
    for step in ("start", "choices", "result"):
        if step == "choices":
            choose(page, CSV)
            page.check("[name=keep][value=author]")
            for closed in page.locator("details:visible > summary").all():
                closed.click()
            page.select_option("#author", "author")
            settled(page)
        if step == "result":
            page.fill("#author_loss", "40")
            page.click("#run")
            page.wait_for_selector("#result:not([hidden])")
        page.evaluate(axe)
        found = page.evaluate("rules => axe.run(document, {runOnly: rules, iframes: false})", RULES)
        assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]


def test_a_text_can_be_tried(opened):
    page = opened()
    page.fill("#typed", "The goalkeeper saved a penalty in the football match")
    shown(page, "answers", "goalkeeper")
    assert re.search(r"9\d\.\d %", page.inner_text("#answers li:first-child"))
    page.fill("#typed", "qwxyzq")
    shown(page, "answers", "nothing known")
    assert "No word of this text is known" in page.inner_text("#error-try")
    page.fill("#typed", "<img src=x onerror=alert(1)> train, tram, railway")
    shown(page, "answers", "tram")
    assert not page.locator("img").count()


def test_a_hostile_file_runs_nothing(opened):
    page = opened()
    name = "<script>alert(1)</script>"
    choose(page, f'text,"{name}"\n<b>bus</b>,{name}\n', f"{name.replace('/', '')}.csv")
    page.check(f'[name=keep][value="{name}"]')
    settled(page)
    page.click("#run")
    page.wait_for_selector("#result:not([hidden])")
    assert name in page.inner_text("#made-notices")


def test_without_the_program_the_page_says_so(browser, start):
    with start() as program:
        context = browser.new_context()
        page = context.new_page()
        page.goto(program.url)
        page.wait_for_selector("#answers li")
        choose(page, CSV)
        program.end(signal.SIGKILL)
        page.click("#run")
        page.wait_for_selector("#error-run:not([hidden])")
        assert "is syntf serve still running?" in page.inner_text("#error-run")
        context.close()


def test_without_javascript_the_page_says_so(browser, program):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(program.url)
    assert "syntf anonymize" in page.inner_text("noscript")
    context.close()
