"""Spark Connect: a frame of a real server on loopback becomes a frame of counts."""

import base64
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from syntf.pipeline.anonymizer import Anonymizer
from syntf.pipeline.settings import Settings
from syntf.spark.drawing import draw
from syntf.spark.rows import NOT_UNIQUE

KEY = bytes(range(200, 232))

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def connected(parameters, tmp_path_factory):
    """What a client of a server found, and the folder of the server's files."""
    pyspark = pytest.importorskip("pyspark", reason="needs PySpark: pip install 'syntf[spark]'")
    if pyspark.__version__.startswith("3."):
        pytest.skip("Spark Connect needs Spark 4")
    pytest.importorskip("grpc_status", reason="needs pip install 'syntf[spark-connect]'")
    folder = tmp_path_factory.mktemp("connect")
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here), *filter(None, sys.path)])
    done = subprocess.run(
        [
            sys.executable, str(here / "connect_client.py"), str(folder), KEY.hex(),
            json.dumps(parameters),
        ],
        capture_output=True, encoding="utf-8", timeout=400,
        env={
            **os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), folder


def test_draws_depend_on_key_name_and_text_only(connected, parameters):
    """They are bit for bit what one process draws from the same key, names and texts."""
    found, _ = connected
    anonymizer = Anonymizer.build(Settings.from_preset(**parameters))
    words = anonymizer.vocabulary.outputs
    assert len(found["texts"]) > 40
    assert found["draws"].keys() == found["vectors"].keys() == found["texts"].keys()
    for name, text in found["texts"].items():
        (row,) = draw(anonymizer, KEY, [name.encode()], [text.encode()]).toarray().tolist()
        assert found["vectors"][name] == row
        counted = [(word, count) for word, count in zip(words, row, strict=True) if count]
        assert list(zip(*found["draws"][name], strict=True)) == counted


def test_the_frame_has_the_columns_and_the_guarantee_of_a_release(connected):
    found, _ = connected
    assert found["columns"] == ["name", "topic", "terms", "counts"]
    assert found["documents"] == len(found["texts"])
    assert found["loss"] == 120


def test_rows_that_change_with_every_evaluation_are_computed_once(connected):
    assert connected[0]["evaluations agree"]


def test_a_release_of_whole_documents_has_a_pilot(connected):
    assert connected[0]["pilot"] == [165, 1100, 165]


def test_what_connect_cannot_do_is_refused(connected):
    without_id, ledger, write = connected[0]["refused"]
    assert without_id == ledger
    assert ledger.startswith("over Spark Connect, name the documents with id and use no ledger")
    assert write.startswith("Spark Connect cannot write the files of a release: write release.data")
    assert NOT_UNIQUE in connected[0]["repeated id"]


def test_the_key_is_written_nowhere(connected):
    """It is not in the server's event log, its local files or the text of the plan."""
    found, folder = connected
    assert not found["key in plan"]
    contents = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    assert any(b"mapInArrow" in content or b"MapInArrow" in content for content in contents)
    forms = [KEY, KEY.hex().encode(), base64.b64encode(KEY), KEY[:16], repr(KEY).encode()[2:-1]]
    octal = "".join(f"\\{byte:03o}" for byte in KEY[:8]).encode()  # how protobuf prints bytes
    assert not any(form in content for form in [*forms, octal] for content in contents)
