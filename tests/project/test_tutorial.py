"""docs/tutorial.ipynb runs from top to bottom, and its stored output is that of a fresh run.

Tags of a cell say what may differ: scores of a cell tagged *scores* by at most TOLERANCE, words of
a cell tagged *random*. All other output must be equal. Pictures must keep their size.
"""

import base64
import re
import resource
import struct
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest
from notebook_page import joined, page, read

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.ipynb"
SCORE = re.compile(r"\b[01]\.\d\d\b")
TOLERANCE = 0.15
SECONDS = 60
"""Most processor seconds that the notebook may take."""


@pytest.fixture(scope="module")
def stored():
    return [cell for cell in read(TUTORIAL) if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def fresh(python, tmp_path_factory):
    for name in ("nbclient", "ipykernel"):
        if find_spec(name) is None:
            pytest.skip(f"needs {name}: pip install 'syntf[docs]'")
    out = tmp_path_factory.mktemp("tutorial") / "tutorial.ipynb"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [python, str(ROOT / "tools" / "run_tutorial.py"), "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [cell for cell in read(out) if cell["cell_type"] == "code"], used


def text(cell):
    return "".join(joined(each["text"]) for each in cell["outputs"] if "text" in each)


def tags(cell):
    return cell["metadata"].get("tags", [])


def sizes(cell):
    """Return width and height of the pictures of a cell."""
    found = []
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            picture = base64.b64decode(joined(output["data"]["image/png"]))
            assert picture[:8] == b"\x89PNG\r\n\x1a\n"
            found.append(struct.unpack(">II", picture[16:24]))
    return found


def differences(old, new):
    """Say how the output of two runs of a cell differs; empty if it does not."""
    if [output["output_type"] for output in old["outputs"]] != [
        output["output_type"] for output in new["outputs"]
    ]:
        return "different kinds of output"
    if len(sizes(old)) != len(sizes(new)):
        return "different number of pictures"
    for before, after in zip(sizes(old), sizes(new), strict=True):
        if any(abs(a - b) > 0.03 * a for a, b in zip(before, after, strict=True)):
            return f"the size of a picture changed from {before} to {after}"
    if "random" in tags(old):
        same = text(old).count("\n") == text(new).count("\n")
        return "" if same else "different number of lines"
    if "scores" not in tags(old):
        return "" if text(old) == text(new) else f"{text(old)!r} changed to {text(new)!r}"
    if SCORE.sub("#", text(old)) != SCORE.sub("#", text(new)):
        return f"{text(old)!r} changed to {text(new)!r}"
    pairs = zip(SCORE.findall(text(old)), SCORE.findall(text(new)), strict=True)
    far = [pair for pair in pairs if abs(float(pair[0]) - float(pair[1])) > TOLERANCE]
    return f"scores moved: {far}" if far else ""


def test_every_cell_has_output_and_no_error(stored):
    assert len(stored) == 10
    for cell in stored:
        assert re.search(r"\bprint\(|plt\.show\(\)", joined(cell["source"]))
        assert cell["outputs"], "run tools/run_tutorial.py"
        assert not any(output["output_type"] == "error" for output in cell["outputs"])
    assert sum(len(sizes(cell)) for cell in stored) == 3
    assert all(cell["metadata"].get("alt") for cell in stored if sizes(cell))


@pytest.mark.slow
def test_fresh_run_gives_the_stored_output(stored, fresh):
    cells, _ = fresh
    assert [cell["source"] for cell in cells] == [cell["source"] for cell in stored]
    assert [differences(*pair) for pair in zip(stored, cells, strict=True)] == [""] * len(stored)


@pytest.mark.slow
def test_tutorial_takes_less_than_a_minute_of_processor_time(fresh):
    assert fresh[1] < SECONDS


@pytest.mark.slow
def test_conclusions_hold_for_stored_and_fresh_output(stored, fresh):
    for cells in (stored, fresh[0]):
        scored = [text(cell) for cell in cells if "scores" in tags(cell)]
        analyst, attacker, curves = ([float(x) for x in SCORE.findall(each)] for each in scored)
        assert analyst[1] > 0.65 * analyst[0]  # the analyst keeps most of her accuracy
        assert attacker[1] < attacker[2] + 0.08  # the attacker is no better than a blind guess
        rows = [curves[i : i + 2] for i in range(0, len(curves), 2)]
        assert rows[0][0] < 0.65 * analyst[0]  # with a small loss much of the topic is lost
        assert rows[-1][0] > 0.8  # the accuracy of the analyst rises
        assert all(row[1] < 0.5 * attacker[0] for row in rows)  # the attacker never recovers


def test_differences_between_cells_are_found(stored):
    exact, scored = stored[2], stored[5]
    assert tags(scored) == ["scores"]
    assert differences(exact, exact) == differences(scored, scored) == ""
    changed = {**exact, "outputs": [{**exact["outputs"][0], "text": "private: False"}]}
    assert "changed to" in differences(exact, changed)
    moved = SCORE.sub("0.10", text(scored))
    changed = {**scored, "outputs": [{**scored["outputs"][0], "text": moved}]}
    assert differences(scored, changed).startswith("scores moved")
    assert differences(exact, {**exact, "outputs": []}) == "different kinds of output"


def test_page_shows_text_code_output_and_pictures():
    picture = base64.b64encode(b"png").decode()
    shown = {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "<F>"}}
    said = {"output_type": "stream", "text": ["one\n", "two\n"]}
    cells = [
        {"cell_type": "markdown", "source": ["# A\n", "b"], "metadata": {}},
        {
            "cell_type": "code",
            "source": "x",
            "metadata": {"alt": "A bar"},
            "outputs": [said, shown],
        },
    ]
    text, pictures = page(cells, "folder")
    assert pictures == {"folder/1-1.png": b"png"}
    assert text == (
        "# A\nb\n\n```python\nx\n```\n\n```text\none\ntwo\n```\n\n![A bar](folder/1-1.png)\n"
    )
