"""Help to use the pages in a browser: sizes of the window, rules of axe, and input."""

DESK, PHONE = {"width": 1200, "height": 900}, {"width": 360, "height": 740}
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def settled(page):
    page.wait_for_selector("main[aria-busy=false]")


def write(page, side, text):
    page.fill(f"#text-{side}", text)
    settled(page)


def dial(page, name, value):
    page.fill(f"#{name}", str(value))
    settled(page)


def violations(page, axe):
    """Return what axe, whose script is given, finds wrong on a page."""
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)
    assert found["passes"]
    return [
        (one["id"], node["html"], node["failureSummary"])
        for one in found["violations"] for node in one["nodes"]
    ]  # fmt: skip
