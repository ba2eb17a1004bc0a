"""The page in a real browser, also at phone width, and checked with axe."""

import re
from functools import partial

import pytest
from browsing import DESK, PHONE, dial, settled, violations, write

from syntf.pipeline.settings import PRESETS


@pytest.fixture
def opened(opened):
    """Open the page of the words unit; an error in its console fails the test too."""
    return partial(opened, words=True, quiet_console=True)


def test_a_text_shows_its_draws(opened):
    page = opened()
    write(page, "a", "The library and the engine")
    dial(page, "length", 40)
    froms = page.locator("#draws .from").all_inner_texts()
    assert froms == ["library"] * 20 + ["engine"] * 20
    marked = page.locator("#marked mark").all_inner_texts()
    assert marked == ["library", "engine"]
    assert page.inner_text("#marked") == "The library and the engine"
    shares = [page.inner_text(f"#share-{kind}") for kind in ("near", "same", "noise")]
    assert sum(int(re.match(r"\d+", share).group()) for share in shares) in (99, 100, 101)


def test_sliders_change_loss_probabilities_and_number_of_draws(opened):
    page = opened()
    dial(page, "length", 10)
    dial(page, "loss", 2)
    dial(page, "neighbours", 5)
    assert page.locator("#draws button").count() == 10
    assert page.locator("#sums b").all_inner_texts() == ["2.00", "20", "1,000"]
    assert page.inner_text("#loss-hint").startswith(
        "One word changes the odds by at most e^ℓ = 7.4"
    )
    assert page.locator("#chart li").count() in (
        6,
        7,
    )  # five near words, the drawn word, the others
    assert page.inner_text("#neighbours-hint").endswith("for one of the 5.")
    dial(page, "neighbours", 1)
    assert page.inner_text("#neighbours-hint").endswith("for the nearest word.")
    assert page.locator("#chart li").count() in (2, 3)
    page.click("#reset")
    settled(page)
    assert page.inner_text("#length-value") == "125"
    assert page.inner_text("#loss-value") == "8.0"


def test_selecting_a_draw_shows_its_probabilities(opened):
    page = opened()
    write(page, "a", "library engine")
    page.locator("#draws button").last.click()
    assert "“engine”" in page.inner_text("#chosen-hint")
    assert page.locator("#draws [aria-pressed=true]").count() == 1
    assert page.inner_text("#marked mark.chosen") == "engine"
    widths = page.evaluate("[...document.querySelectorAll('#chart .bar')].map(b => b.clientWidth)")
    values = page.locator("#chart .value").all_inner_texts()
    chances = [float(value.split()[0]) for value in values]
    assert abs(sum(chances) - 100) < 3
    assert widths.index(max(widths)) == chances.index(max(chances))


def test_every_draw_can_be_reached_with_the_keyboard(opened):
    page = opened()
    write(page, "a", "library engine")
    page.focus("#look-b")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") == "look-a"
    page.locator("#draws button").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.index") == "3"
    page.keyboard.press("End")
    last = str(PRESETS["words"]["length"] - 1)
    assert page.evaluate("document.activeElement.dataset.index") == last
    assert page.locator("#draws [tabindex='0']").count() == 1
    page.focus("#neighbours")
    page.keyboard.press("ArrowRight")
    settled(page)
    assert page.inner_text("#neighbours-value") == str(PRESETS["words"]["neighbours"] + 1)
    page.focus("#again")
    before = page.inner_text("#draws")
    page.keyboard.press("Enter")
    settled(page)
    assert page.inner_text("#draws") != before


def test_draw_again_gives_new_draws(opened):
    page = opened()
    seen = {page.inner_text("#seen-a")}
    for _ in range(3):
        page.click("#again")
        settled(page)
        seen.add(page.inner_text("#seen-a"))
    assert len(seen) == 4


def test_two_texts_are_compared(opened):
    page = opened()
    write(page, "a", "library museum painter")
    write(page, "b", "engine brake fuel")
    assert "for A" in page.inner_text("#verdict-a")
    assert "for B" in page.inner_text("#verdict-b")
    page.click("#look-b")
    assert set(page.locator("#draws .from").all_inner_texts()) == {"engine", "brake", "fuel"}
    write(page, "b", "library museum painter")
    assert "equally likely" in page.inner_text("#verdict-a")
    assert "equally likely" in page.inner_text("#verdict-b")
    write(page, "b", "")
    assert "(no known word)" in page.inner_text("#draws")


def test_the_page_warns_that_it_is_not_a_release(opened):
    warning = opened().inner_text(".warning")
    assert "inner draws" in warning
    assert "not a release" in warning
    assert "/v1/anonymize never returns it" in warning


def test_texts_are_escaped_and_never_in_a_url(opened, canary):
    page = opened()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    write(page, "a", f"<img src=x onerror=alert(1)> {canary} library")
    page.click("#again")
    settled(page)
    assert page.locator("#marked img").count() == 0
    assert asked
    assert not any(canary in url for url in [*asked, page.url])
    assert page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])") == "[{},{}]"


def test_the_theme_follows_the_system_until_changed(opened):
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = opened(), opened(theme="dark")
    light_ground, dark_ground = light.evaluate(ground), dark.evaluate(ground)
    assert light_ground != dark_ground
    light.click("#theme")
    assert light.evaluate(ground) == dark_ground
    light.reload()
    assert light.evaluate(ground) == dark_ground
    dark.click("#theme")
    assert dark.evaluate(ground) == light_ground


def test_the_page_fits_a_phone(opened):
    page = opened(size=PHONE)
    write(page, "a", "Incomprehensibilities" * 8 + " library")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#draws button").nth(1).click()
    assert page.locator("#chart li").first.is_visible()
    dial(page, "loss", 12)
    assert page.inner_text("#loss-value") == "12.0"
    overlapped = page.evaluate("document.getElementById('controls').offsetHeight / innerHeight")
    assert overlapped < 0.25
    for name in ("loss", "neighbours", "length"):
        assert page.locator(f"#{name}-hint").is_visible()


@pytest.mark.parametrize(
    ("path", "size", "theme"),
    [
        ("/", DESK, "light"),
        ("/", PHONE, "dark"),
        ("/docs", PHONE, "light"),
        ("/docs", DESK, "dark"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value["width"]),
)
def test_axe_reports_no_violations(opened, axe, path, size, theme):
    page = opened(path, size, theme)
    if path == "/docs":
        page.wait_for_selector(".route")
    else:
        dial(page, "length", 15)  # fewer elements of each kind
    assert not violations(page, axe)


def test_the_api_page_shows_every_route(opened):
    page = opened("/docs")
    page.wait_for_selector(".route")
    shown = page.inner_text("#routes")
    for path in ("/v1/anonymize", "/v1/explain/{word}", "/v1/guarantee", "/healthz", "/metrics"):
        assert path in shown
    assert "The ledger refuses" in shown
