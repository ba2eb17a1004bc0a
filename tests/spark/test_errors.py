"""Errors of the Spark engine: one line that names the cause and says what to do."""

import socket

import pytest

from syntf.cli.spark import check_local_files
from syntf.core.errors import SyntfError
from syntf.releases.job import release
from syntf.spark import anonymize, errors

# Without a session


@pytest.mark.parametrize(
    "master",
    ["local", "local[4]", "local[*]", "local[*,3]", "yarn", "k8s://https://host:443"],
)
def test_masters_that_need_no_answer_are_accepted(master, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/somewhere")
    errors.check_master(master)


@pytest.mark.parametrize("master", ["nonsense://host:1", "local[x]", "http://host", ""])
def test_an_unknown_kind_of_master_is_refused(master):
    with pytest.raises(SyntfError, match=r"no such kind of cluster; use local\[\*\], spark://"):
        errors.check_master(master)


def test_a_connect_address_is_refused_with_what_to_call():
    with pytest.raises(SyntfError, match=r"call syntf\.spark\.anonymize with your session"):
        errors.check_master("sc://localhost")


def test_a_master_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setenv("JAVA_HOME", "/somewhere")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        errors.check_master(f"spark://nobody.invalid:1,{address}")
    with pytest.raises(SyntfError, match=f"spark://{address}: no Spark master answers there"):
        errors.check_master(f"spark://{address}")
    with pytest.raises(SyntfError, match="no Spark master answers there"):
        errors.check_master("spark://host:port")


def test_missing_java_is_named(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(errors.shutil, "which", lambda _: None)
    with pytest.raises(SyntfError, match="needs Java 17, which is not installed"):
        errors.check_master("local")


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        ("text,topic\n", ["text"]),
        ("", ["text"]),
        ("text,topic\na,b\n", ["txt"]),
        ("text,topic\na,b\n", ["text", "topc"]),
        (None, ["text"]),
    ],
    ids=["header only", "empty", "no text column", "no kept column", "no file"],
)
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_a_bad_file_gets_the_message_of_one_machine(tmp_path, content, columns, suffix):
    path = tmp_path / f"in{suffix}"
    if content is not None:
        path.write_text(content.replace(",", {".csv": ",", ".tsv": "\t"}[suffix]))
    with pytest.raises(SyntfError) as here:
        check_local_files([str(path)], columns, None, local=True)
    with pytest.raises(SyntfError) as local:
        release(path, tmp_path / "out", text=columns[0], keep=columns[1:])
    assert str(here.value) == str(local.value)


def test_files_that_spark_reads_itself_are_not_looked_at(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    inputs = ["s3a://bucket/in.csv", str(tmp_path / "folder.csv"), str(tmp_path / "*.csv")]
    check_local_files(inputs, ["text"], None, local=True)
    check_local_files(["/only/on/the/cluster.csv"], ["text"], None, local=False)
    broken = tmp_path / "broken.csv"
    broken.write_text("text,topic\na,b\na,b,c\n")
    check_local_files([str(broken)], ["text"], None, local=True)  # Spark refuses the row


def test_json_lines_may_have_further_columns_later(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text('{"topic": 1}\n' * 400_000 + '{"text": "a"}\n')
    check_local_files([str(path)], ["text"], None, local=True)
    path.write_text('{"topic": 1}\n')
    with pytest.raises(SyntfError, match="no column 'text'; the columns are: topic"):
        check_local_files([str(path)], ["text"], None, local=True)


@pytest.mark.parametrize("package", ["pandas", "polars", "builtins"])
def test_other_frames_are_refused(package):
    pytest.importorskip("pyspark", reason="needs PySpark: pip install 'syntf[spark]'")
    module = pytest.importorskip(package, reason=f"needs {package}: pip install {package}")
    kind = dict if package == "builtins" else module.DataFrame
    name = rf"{kind.__module__.split('.')[0]}\.{kind.__name__}"
    with pytest.raises(SyntfError, match=rf"not {name}: make one with spark\.createDataFrame"):
        anonymize(kind({"text": ["a"]}))


@pytest.mark.parametrize("error", ["PythonException", "Py4JJavaError"])
def test_executors_without_syntf_are_named(error):
    message = f"""{error}: An exception was thrown from the Python worker: Traceback
  File "rows.py", line 3, in <module>
ModuleNotFoundError: No module named 'syntf'"""
    cause = errors.cause(message)
    assert cause.startswith("the Python of the executors lacks a module: install syntf there")
    assert "PYSPARK_PYTHON" in cause


# With a session


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("s3a://bucket/out", r"s3a:// needs org\.apache\.hadoop:hadoop-aws.*spark\.jars\.packages"),
        ("gs://bucket/out", r"gs:// needs com\.google\.cloud\.bigdataoss:gcs-connector"),
        ("s3://bucket/out", "write s3a://"),
        ("other://bucket/out", "no file system for such an address"),
        ("hdfs://no.such.host.invalid/out", "there is no such host"),
    ],
)
def test_an_address_that_spark_cannot_use_is_explained(frame, parameters, address, message):
    made = anonymize(frame(4, 1), id="name", **parameters)
    with pytest.raises(SyntfError, match=message) as caught:
        made.write(address)
    assert "\n" not in str(caught.value)
    with pytest.raises(SyntfError, match=message), errors.plain_errors():
        made.data.sparkSession.read.parquet(address)
    made.close()


def test_a_closed_release_says_so(frame, parameters, tmp_path):
    made = anonymize(frame(4, 1), id="name", **parameters)
    made.close()
    made.close()
    for use in (lambda: made.data, lambda: made.write(str(tmp_path / "out"))):
        with pytest.raises(SyntfError, match=r"was closed before it was written.*call anonymize"):
            use()


def test_a_written_release_can_be_read_after_it_was_closed(frame, parameters, tmp_path):
    made = anonymize(frame(4, 1), **parameters)
    made.write(str(tmp_path / "out"))
    made.close()
    assert made.data.count() == 4


def test_a_frame_without_rows_has_no_release(frame, parameters, tmp_path):
    made = anonymize(frame(4, 1).where("topic > 7"), id="name", **parameters)
    assert made.data.collect() == []
    with pytest.raises(SyntfError, match="the frame holds no rows"):
        made.write(str(tmp_path / "out"))
