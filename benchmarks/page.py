"""Measure how fast the page of `syntf serve` reacts when a slider is moved, in a real browser.

    python benchmarks/page.py [--characters 3000] [--moves 20]

Starts a service on loopback and opens its page in Chromium with Playwright (SYNTF_CHROMIUM names
another program than `chromium`). The second text of the page has --characters characters. Each move
of the loss is timed from the event to the frame that shows the new draws. The second line is the
part of that time that the service took.
"""

import argparse
import os
import shutil
from statistics import median

from playwright.sync_api import sync_playwright

from serve import service, texts

MOVE = """async (loss) => {
  const main = document.querySelector("main"), dial = document.querySelector("#loss");
  performance.clearResourceTimings();
  const began = performance.now();
  dial.value = loss;
  dial.dispatchEvent(new Event("input", { bubbles: true }));
  const frame = () => new Promise(requestAnimationFrame);
  do { await frame(); } while (main.getAttribute("aria-busy") !== "false");
  await frame();
  const shown = performance.now() - began;
  const asked = performance.getEntriesByType("resource");
  return [shown, asked.filter((one) => one.name.endsWith("/page/draw")).at(-1).duration];
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--characters", type=int, default=3000)
    parser.add_argument("--moves", type=int, default=20)
    options = parser.parse_args()
    text = " ".join(texts())[: options.characters]
    chromium = os.environ.get("SYNTF_CHROMIUM") or shutil.which("chromium")
    with service(["--preset", "words"]) as url, sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(url)
        page.wait_for_selector("#draws button")
        page.fill("#text-b", text)
        page.wait_for_selector("main[aria-busy=false]")
        for warm in (5, 6):
            page.evaluate(MOVE, warm)
        moves = [page.evaluate(MOVE, 2 + move / 4) for move in range(options.moves)]
        browser.close()
    print(f"{options.moves} moves, {options.characters:,} characters beside the sample text:")
    for name, times in zip(
        ("shown", "of that, the service"), zip(*moves, strict=True), strict=True
    ):
        low, high = min(times), max(times)
        print(f"  {name:22} {low:4.0f} to {high:4.0f} ms, half within {median(times):.0f}")


if __name__ == "__main__":
    main()
