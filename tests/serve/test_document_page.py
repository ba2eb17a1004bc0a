"""The page of the document unit in a real browser, and what both pages do when things go wrong."""

import pytest
from browsing import DESK, PHONE, dial, settled, violations, write


@pytest.fixture(scope="module")
def locked_server(start):
    with start(
        "--document-loss", "10", words=False, SYNTF_TOKEN="correct horse battery"
    ) as running:
        yield running


def test_the_page_shows_the_way_from_text_to_release(opened):
    page = opened()
    write(page, "a", "The goalkeeper saved a penalty in the football match")
    steps = page.locator("#path-a > li")
    assert steps.count() == 5
    marked = page.locator("#path-a .marked mark").all_inner_texts()
    assert "goalkeeper" in marked
    target = steps.nth(1).locator(".name").inner_text()
    assert "97.4 %" in steps.nth(2).inner_text()
    released = steps.nth(3).locator(".name").inner_text()
    kept = "= kept" in steps.nth(3).inner_text()
    assert kept == (target == released)
    assert page.locator("#seen-a li").first.inner_text() == released
    assert "97.4 %" in page.inner_text("#lead-now")
    assert "1 to 22,026" in page.inner_text("#meaning")
    assert page.locator("#sums b").all_inner_texts() == ["10", "22,026", "500"]


def test_the_slider_changes_list_and_probability(opened):
    page = opened()
    dial(page, "loss", 2)
    assert "one of 10 topics" in page.inner_text("#lead-now")
    assert page.inner_text("#loss-value") == "2.00"
    dial(page, "loss", 20)
    assert "2 of 8,000 words" in page.inner_text("#lead-now")
    assert "; " in page.locator("#path-b .name").first.inner_text()
    page.click("#reset")
    settled(page)
    assert page.inner_text("#loss-value") == "10"


def test_an_empty_text_gets_a_fixed_choice(opened):
    page = opened()
    write(page, "a", "")
    write(page, "b", "qwxyzq")
    assert "No known word" in page.inner_text("#path-a")
    names = [page.locator(f"#path-{side} .name").first.inner_text() for side in "ab"]
    assert names[0] == names[1]
    assert "equally likely" in page.inner_text("#verdict-a")


def test_noise_is_told_by_a_sign_as_well_as_by_colour(opened):
    page = opened()
    dial(page, "loss", 0.5)
    page.locator("#path-a summary").click()
    draws = page.locator("#path-a .again li").all_inner_texts()
    assert len(draws) == 23
    assert all(draw[0] in "=∗" for draw in draws)
    assert any(draw[0] == "∗" for draw in draws)


@pytest.mark.parametrize("words", [False, True], ids=["document", "words"])
def test_a_note_under_each_text_says_what_can_be_read(opened, words):
    page = opened(words=words)
    assert " words are known" in page.inner_text("#read-a")
    german = "Der Bus ist nicht da und der Fahrer sagt nicht, wann er auf dem Bahnhof ist. "
    write(page, "b", german * 4)
    assert "wrong" in page.get_attribute("#read-b", "class")
    assert "looks German" in page.inner_text("#read-b")
    assert page.get_attribute("#text-b", "aria-describedby") == "read-b"
    write(page, "b", "12 34")
    assert "No word of the text is known" in page.inner_text("#read-b")
    write(page, "b", "")
    assert page.inner_text("#read-b") == ""


@pytest.mark.parametrize("words", [False, True], ids=["document", "words"])
def test_long_texts_work(opened, words):
    page = opened(words=words)
    write(page, "a", ("The museum and a painter. " * 20_000)[:500_000])
    shown = page.wait_for_selector("#marked em" if words else "#path-a em").inner_text()
    assert "more words" in shown
    settled(page)
    assert "stale" not in (page.get_attribute("main", "class") or "")


def test_results_are_dimmed_and_return_after_a_network_cut(opened):
    page = opened()
    page.context.set_offline(True)
    page.click("#again")
    page.wait_for_selector("main.stale")
    assert "does not answer" in page.inner_text("#status")
    opacity = "getComputedStyle(document.querySelector('[aria-labelledby=seen-title]')).opacity"
    assert float(page.evaluate(opacity)) < 0.6
    page.context.set_offline(False)
    page.wait_for_selector("main:not(.stale)")
    settled(page)
    assert "drawn in" in page.inner_text("#status")


def test_a_refused_text_dims_the_old_results(opened):
    page = opened()
    write(page, "a", "word " * 300_000)
    page.wait_for_selector("main.stale")
    assert "1,048,576 bytes" in page.inner_text("#status")
    write(page, "a", "word")
    page.wait_for_selector("main:not(.stale)")


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_without_javascript_the_page_says_so(opened, path):
    page = opened(path, java_script_enabled=False)
    assert "needs JavaScript" in page.inner_text("main")


def test_the_page_of_the_api_asks_for_the_token(opened, locked_server):
    page = opened("/docs", server=locked_server)
    page.wait_for_selector("#token:not([hidden])")
    page.fill("#token-value", "a wrong token, long enough")
    page.click("#token button")
    page.wait_for_selector("#status.wrong")
    assert "wrong" in page.inner_text("#status")
    page.fill("#token-value", "correct horse battery")
    page.click("#token button")
    page.wait_for_selector(".route")
    assert "Authorization: Bearer" in page.inner_text("#token-note")
    assert "/v1/prototypes" in page.inner_text("#routes")
    assert page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])") == "[{},{}]"


@pytest.mark.parametrize(
    ("size", "theme"), [(DESK, "light"), (PHONE, "dark")], ids=["desk", "phone"]
)
def test_axe_reports_no_violations(opened, axe, size, theme):
    page = opened(size=size, theme=theme)
    page.locator("#path-a summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    assert not violations(page, axe)
