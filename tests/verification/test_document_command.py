"""`syntf verify` and `syntf report` on a release of whole documents, with the embedded codebook."""

import json


def test_the_command_verifies_a_release_of_documents(call, tmp_path):
    (tmp_path / "in.csv").write_text("text\n" + "the rocket left its orbit\nfresh bread\n" * 30)
    out = tmp_path / "out"
    code, _, _ = call("anonymize", tmp_path / "in.csv", "--document-loss", 10, "--out", out)
    assert code == 0
    code, shown, _ = call("verify", out, "--json")
    record = json.loads(shown)
    assert (code, record["verified"], record["loss_per_document"]) == (0, True, 10.0)
    assert record["loss_per_word"] is None
    code, shown, _ = call("verify", out)
    assert shown.splitlines()[-1] == (
        "Verified: draws from these lists lose at most 10.00 per document. That these prototypes "
        "were drawn from them, once, cannot be proved."
    )
    code, _, _ = call("report", out, "--out", tmp_path / "again.html")
    assert code == 0
    assert (tmp_path / "again.html").read_bytes() == (out / "report.html").read_bytes()


def test_a_release_that_is_not_private_is_refused_where_privacy_is_required(call, tmp_path):
    (tmp_path / "in.csv").write_text("text\nthe rocket left its orbit\nfresh bread\n")
    command = ["anonymize", tmp_path / "in.csv", "--document-loss", 10, "--out"]
    assert call(*command, tmp_path / "private")[0] == 0
    assert call(*command, tmp_path / "seeded", "--insecure-seed", 1)[0] == 0
    assert call("verify", tmp_path / "private", "--require-private")[0] == 0
    assert call("verify", tmp_path / "seeded")[0] == 0
    code, shown, err = call("verify", tmp_path / "seeded", "--require-private")
    assert (code, err) == (1, "")
    refusal = "REFUSED: the release is not private, which was required."
    assert shown.splitlines()[-1] == refusal
    code, shown, err = call("verify", tmp_path / "seeded", "--require-private", "--json")
    record = json.loads(shown)
    assert (code, err, record["verified"], record["private"]) == (1, "", True, False)
