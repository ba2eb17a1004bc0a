"""Where batches of the input end depends on the sizes of texts, and nothing that is seen does."""

import json

import pytest

from syntf.cli import main

LONG = "dog " * 20_000
"""With an emoji, its string takes four times the memory."""

FIRST = {"plain": LONG, "wide": f"{LONG[:-5]}😀", "short": "dog"}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("syntf.inputs.corpus.SIZE", 300_000)
    monkeypatch.setattr("syntf.inputs.formats.csv_rows.BLOCK", 1 << 14)

    def outcome(first, others, *options):
        """Exit code, standard output and what is left beside the input, less the release."""
        rows = [f"{number},{text}" for number, text in enumerate([first, *others])]
        (tmp_path / "in.csv").write_text("\n".join(["id,text", *rows]) + "\n", encoding="utf-8")
        monkeypatch.setattr(
            "sys.argv",
            ["syntf", "anonymize", f"{tmp_path}/in.csv", "--out", f"{tmp_path}/out", "--force",
             "--keep", "id", *options],
        )  # fmt: skip
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        left = sorted(path.name for path in tmp_path.iterdir() if path.name != "out")
        return end.value.code or 0, said.out, said.err, left

    return outcome


@pytest.mark.parametrize("preset", ["document", "words"])
def test_one_text_does_not_decide_whether_the_others_are_looked_at(run, preset):
    odd = ["qwx zzkt plorf wexu jjkq vruml xxzt brrg " * 120] * 299
    for first in FIRST.values():
        code, _, error, _ = run(first, odd, "--json", "--preset", preset)
        assert code == 2
        assert "of the texts have no known word" in error


def test_one_text_does_not_decide_which_rows_the_warnings_are_about(run):
    others = ["the quick dog eats in a house " * 150] * 299
    warnings = []
    for first in FIRST.values():
        code, out, _, _ = run(first, others, "--json", "--shuffle")
        assert code == 0
        warnings.append(json.loads(out)["warnings"])
    assert warnings[0] == warnings[1] == warnings[2]
    assert len(warnings[0]) == 2  # the ids are unique, and in order


def test_one_text_does_not_decide_what_a_broken_row_leaves_behind(run, monkeypatch):
    monkeypatch.setattr("syntf.releases.draft.SHARD", 50)
    rows = ["the dog"] * 60 + ["dog " * 3_000] * 5 + ["a broken, row, here"]
    found = [run(first, rows, "--preset", "words") for first in FIRST.values()]
    assert found[0] == found[1] == found[2]
    assert found[0][0] == 2
    assert found[0][3] == ["in.csv"]
    assert "--resume" not in found[0][2]
